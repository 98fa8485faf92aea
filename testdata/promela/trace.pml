/* Reads conversations of the core from the file that TRACES names, and compares what
   was seen in each step with what the model has. A conversation is accepted when every
   step is the same. */
c_decl {
\#include <stdio.h>
\#include <stdlib.h>
\#include <string.h>
#define MASK 0x19fbff
#define COLS 17
#define MAXT 4000
#define MAXR 100000
static int rows[MAXR][COLS];
static int from_[MAXT], len_[MAXT], best[MAXT], tried[MAXT], branches;
static char name_[MAXT][200];
static char why[MAXT][400];
static int nt;
static void report(void) {
  int t, ok = 0;
  for (t = 0; t < nt; t++) {
    if (best[t] == len_[t]) ok++;
    else printf("REJECTED %s %d: %s\n", name_[t], best[t], why[t]);
  }
  printf("ACCEPTED %d of %d\n", ok, nt);
}
static void load(void) {
  FILE *f; int n = 0, i, j, c; 
  if (nt) return;
  f = fopen(getenv("TRACES"), "r");
  while (fscanf(f, "%d %199[^\n]", &len_[nt], name_[nt]) == 2) {
    from_[nt] = n;
    for (i = 0; i < len_[nt]; i++, n++) for (j = 0; j < COLS; j++) { if (fscanf(f, "%d", &c) != 1) exit(3); rows[n][j] = c; }
    nt++;
  }
  atexit(report);
}
}
int o_timers;
short tr, pos, o_ph, o_send, o_cancel, o_speak, o_flush, o_sound, o_open, o_tool, o_turn, o_queue, o_refused, o_post;
bit good, heard, open;
byte showing;

c_code {
  static void fetch(void) {
    int *r = rows[from_[now.tr] + now.pos];
    now.ev = r[0]; now.ea = r[1]; now.eb = r[2]; now.ec = r[3]; now.o_ph = r[4]; now.o_send = r[5]; now.o_cancel = r[6];
    now.o_speak = r[7]; now.o_flush = r[8]; now.o_sound = r[9]; now.o_open = r[10]; now.o_tool = r[11]; now.o_turn = r[12]; now.o_queue = r[13]; now.o_refused = r[14]; now.o_post = r[15]; now.o_timers = r[16];
  }
  static void verdict(void) {
    if (tried[now.tr] == now.pos) tried[now.tr]++; else { printf("BRANCH %s %d event %d(%d,%d,%d)\n", name_[now.tr], now.pos, now.ev, now.ea, now.eb, now.ec); branches++; }
    char b[400] = ""; 
#define CMP(n, p, o) if ((p) != (o)) sprintf(b + strlen(b), " %s %d not %d;", n, (int)(p), (int)(o))
    CMP("phase", now.showing, now.o_ph);
    CMP("send", now.xsend, now.o_send);
    CMP("cancel", now.xcancel, now.o_cancel);
    CMP("speak", now.xspeak, now.o_speak);
    CMP("flush", now.xflush, now.o_flush);
    if (now.buf > now.drn) CMP("sound", now.heard, now.o_sound);
    CMP("mic", now.open, now.o_open);
    CMP("tool", now.xtool, now.o_tool);
    CMP("turn", now.xturn, now.o_turn);
    CMP("queue", now.queue, now.o_queue);
    CMP("post", now.post, now.o_post & 1);
    CMP("refused", now.xrefused, now.o_refused);
    if (now.need != (now.o_timers & MASK)) sprintf(b + strlen(b), " timers %x not %x;", now.need, now.o_timers & MASK);
    now.good = b[0] == 0;
    if (now.good) { now.pos++; if (now.pos > best[now.tr]) best[now.tr] = now.pos; }
    else if (now.pos >= best[now.tr]) sprintf(why[now.tr], "event %d(%d,%d,%d)%s  [ph %d rst %d ap %d doubt %d n %d buf %d drn %d kind %d turn %d]", now.ev, now.ea, now.eb, now.ec, b, now.ph, now.rst, now.ap, now.doubt, now.nseq, now.buf, now.drn, now.kind, now.turn);
  }
}

active proctype conversation() {
  atomic { c_code { load(); };
  do :: c_expr { now.tr < nt - 1 } -> tr++ :: break od }
  c_expr { now.tr < nt };
  do
  :: c_expr { now.pos < len_[now.tr] } ->
     atomic {
       c_code { fetch(); };
       xsend = 0; xcancel = 0; xspeak = 0; xtool = 0; xturn = 0; xflush = 0; xrefused = 0; stale = 0; xlost = 0; post0 = idling;
       event(); d_step { skip; settle(); skip };
       look(); deadlines();
       showing = wire;
       if :: sounding -> heard = 1 :: else -> heard = 0 fi;
       if :: mic -> open = 1 :: else -> open = 0 fi;
       c_code { verdict(); };
       c_expr { now.good };
       i0 = 0; stale = 0
     }
  :: else -> break
  od
}
