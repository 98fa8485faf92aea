/* The conversation, its hold, its playback and the approval of tools, as the documents
   have them: names, state, and what the events in step.pml share. README.md says how
   the files belong together. Comments name the document where there is a question. */

/* phases, as on the wire */
#define IDLE 0
#define PREPARING 1
#define LISTENING 2
#define ANALYSING 3
#define WAITING 4
#define GENERATING 5
#define SPEAKING 6
#define INTERRUPTED 7
#define FAULTED 8
#define TERMINATING 9
#define SUSPENDED 10

#define USER_START 0
#define USER_STOP 1
#define USER_INTERRUPT 2
#define USER_COMMIT 3
#define USER_TEXT 4
#define USER_RETRY 5
#define USER_APPROVE 6
#define USER_MODEL 7
#define USER_SPEAK 8
#define USER_PLAYBACK 9
#define SUSPEND 10
#define RESUME 11
#define CONFIGURE 12
#define SESSION_READY 13
#define SESSION_FAILED 14
#define SESSION_EXPIRING 15
#define SESSION_RENEWAL 16
#define SESSION_RENEWED 17
#define SESSION_CLOSED 18
#define AUDIO_PRIMED 19
#define AUDIO_READY 20
#define AUDIO_FAILED 21
#define DEVICE_LOST 22
#define DEVICE_RESTORED 23
#define AUDIO_CLOSED 24
#define CONN_READY 25
#define CONN_LOST 26
#define CONN_FAILED 27
#define CONN_CLOSED 28
#define VAD_START 29
#define VAD_PAUSE 30
#define VAD_RESUME 31
#define VAD_END 32
#define STT_PARTIAL 33
#define STT_FINAL 34
#define STT_FAILED 35
#define MODEL_PROGRESS 36
#define MODEL_READY 37
#define MODEL_FAILED 38
#define TOOLS_FOUND 39
#define COPILOT_REQUEST 40
#define COPILOT_DELTA 41
#define COPILOT_SEGMENT 42
#define COPILOT_TOOLCALL 43
#define COPILOT_DONE 44
#define TOOL_DONE 45
#define SUMMARISED 46
#define TTS_BUFFERED 47
#define TTS_CURSOR 48
#define TTS_PLAYED 49
#define TTS_DRAINED 50
#define TTS_FLUSHED 51
#define TTS_FAILED 52
#define TIMER 53
#define QUEUE_NEXT 54
#define FATAL 55
#define RESET 56

/* deadlines */
#define T_START 0
#define T_PREPARE 1
#define T_UTTERANCE 2
#define T_FINAL 3
#define T_RESPONSE 4
#define T_STALL 5
#define T_CANCEL 6
#define T_SPEECH 7
#define T_INTERRUPT 8
#define T_SUSPEND 9
#define T_FAULT 10
#define T_TERMINATE 11
#define T_PAUSE 12
#define T_SEARCH 13
#define T_APPROVAL 14
#define T_TOOL 15
#define T_MODEL 16
#define T_SUMMARY 17
#define T_RENEWAL 18
#define T_CONFIRM 19

/* reasons to hold */
#define H_USER 1
#define H_RENEWAL 2
#define H_CONNECTION 4
#define H_DEVICE 8
#define H_DIAGNOSTICS 16
#define H_HEARTBEAT 32

/* classes of words */
#define C_CONTENT 0
#define C_EMPTY 1
#define C_BACKCHANNEL 2
#define C_STOP 3
#define C_YES 4
#define C_NO 5
#define C_SEND 6
#define C_PAUSE 7
#define C_CONTINUE 8

/* an utterance */
#define NONE 0
#define VOICE 1   /* it is being said */
#define SILENT 2  /* a silence inside of it */
#define AWAITED 3 /* it is over, its words are awaited */

/* what a line ends with */
#define ANSWER 0
#define QUESTION 1
#define NOTICE 2
#define READ 3

/* interruption profiles */
#define ATONCE 0
#define CONFIRMED 1
#define BYWORDS 2
#define NEVER 3

/* what a request is at */
#define R_NONE 0
#define R_SEARCH 1
#define R_SENT 2    /* no sign of life yet */
#define R_STREAM 3  /* the assistant is answering */
#define R_ENDED 4   /* its words are all there */

/* the approval */
#define A_NONE 0
#define A_ASKING 1
#define A_LISTENING 2

#ifndef U
#define U 16
#endif

byte ph, hold;
bit starting, ses, aud, cap, conn, recovering;
byte ust[U];
bit uel[U];          /* it began after the question was heard */
bit doubt, meant;    /* the rest is kept until it is known what was said; words that count were heard */
bit turn, words, expl, manual, atools;
byte profile, turns;
bit tools;           /* the settings */
byte prof, man;      /* those of the turn */
byte queue;
bit unsent, awaitwords;
byte req, round, rst;
byte dyT;
#ifndef MAXC
#define MAXC 17
#endif
byte ncall, asked, ap, runcall;
byte calls[MAXC];
bit destr[MAXC];
bit allow[MAXC];     /* beforehand: nobody is asked */
bit yes;
byte drafts, maxqueue = 8, maxrounds = 10, rounds_, rstage, hrd;
short chars;
byte nutt, rutt;
bit rdestr, rd_, rallow, ra_;
bit said, lost, nosearch, late, wanted, loading, mfail;
bit ucm[U];          /* the user ended it by hand */
byte dyc, dys, dyr;       /* the request that was told to stop: its answer, its search */
byte gen, nseq, spoken, buf, drn, first, askseq;
byte kind;
bit upause;
bit resyn;           /* what was not heard has to be synthesised again */
bit retry;           /* something failed that can be tried again */

/* the event, and what the step does */

short ev, ea, eb, ec;
byte xsend, xcancel, xspeak, xtool, xturn;
bit xflush, xrefused, stale;
byte i0;

inline anyvoice(r) {
  r = 0; i0 = 0;
  do :: i0 < U -> if :: ust[i0] == VOICE || ust[i0] == SILENT -> r = 1 :: else fi; i0++
     :: else -> break od
}
bit talking, pending, silent, post;
int need; /* derived: somebody speaks; words are awaited */
byte npend;
inline look() {
  talking = 0; pending = 0; npend = 0; i0 = 0;
  do :: i0 < U ->
        if :: ust[i0] == VOICE || ust[i0] == SILENT -> talking = 1; npend++
           :: ust[i0] == AWAITED -> pending = 1; npend++
           :: else fi; i0++
     :: else -> break od;
  i0 = 0
}
#define quiet (!talking && !pending)
#define lineup (nseq > drn)                 /* something is still to be heard */
#define ready (buf > drn)                   /* and some of it is there */
#define free (dys == 0 && dyc == 0 && dyT == 0)
#define connected (ph >= LISTENING && ph <= INTERRUPTED)
#define processing (ph >= ANALYSING && ph <= GENERATING)
#define alive (ph >= PREPARING && ph <= INTERRUPTED)
#define streaming (rst == R_SENT || rst == R_STREAM)

inline later() { if :: queue < maxqueue -> queue++ :: else fi }
inline begin_turn() { turn = 1; words = 0; nutt = 0; expl = 0; prof = profile; man = turns; atools = tools; rounds_ = maxrounds; xturn = xturn | 1; if :: drafts > 0 -> words = 1; nutt = drafts; drafts = 0 :: else fi }
inline end_turn(how) {
  if :: turn -> xturn = xturn | how; turn = 0; words = 0; expl = 0 :: else fi
}
inline flush() {
  if :: lineup || nseq != first -> gen++; xflush = 1 :: else fi;
  drn = nseq; hrd = nseq; buf = nseq; spoken = nseq; first = nseq; kind = ANSWER; doubt = 0; meant = 0; resyn = 0; upause = 0
}
inline wipe() { i0 = 0; do :: i0 < MAXC -> calls[i0] = 0; destr[i0] = 0; allow[i0] = 0; i0++ :: else -> break od; i0 = 0; ncall = 0 }
inline cancel() {
  if
  :: rst == R_SEARCH -> xcancel++; dys = req; dyr = round
  :: streaming -> xcancel++; dyc = req; dyr = round
  :: else
  fi;
  if :: runcall != 0 -> xtool = xtool | 2; dyT = runcall; runcall = 0 :: else fi;
  if :: ap != A_NONE -> xtool = xtool | 8 :: else fi;
  ncall = 0; ap = A_NONE; asked = 0; yes = 0; rst = R_NONE; unsent = 0; awaitwords = 0; wipe()
}
/* what was not heard has to be synthesised again, over another connection */
inline again() {
  if
  :: nseq != first ->
     gen++; xflush = 1; resyn = 1;
     if :: hrd > drn -> drn = hrd :: else fi;
     spoken = drn; buf = drn
  :: else
  fi
}
inline piece(k) { nseq++; kind = k }
inline forget() { i0 = 0; do :: i0 < U -> ust[i0] = NONE; i0++ :: else -> break od; i0 = 0; talking = 0; pending = 0; npend = 0 }
inline all_over(how) {
  if :: expl -> cancel(); flush(); end_turn(4) :: else -> cancel(); flush(); end_turn(how) fi;
  forget(); queue = 0; ses = 0; aud = 0; cap = 0; conn = 0; starting = 0; upause = 0; retry = 0
}
inline fault() { all_over(4); ph = FAULTED; hold = hold & H_USER }
inline terminate() { all_over(8); ph = TERMINATING; hold = 0 }
inline explain() { expl = 1; piece(NOTICE) }
/* the request failed */
inline failed() {
  look();
  rst = R_NONE; retry = 1; rutt = nutt; rdestr = rd_; rallow = ra_; unsent = 0; awaitwords = 0; wipe();
  if
  :: ph == SPEAKING || ph == INTERRUPTED || doubt -> explain()
  :: !(ph == SPEAKING || ph == INTERRUPTED || doubt) && hold && npend > 0 -> ph = LISTENING; flush(); end_turn(4)
  :: else -> ph = LISTENING; explain()
  fi
}
/* words that are for the assistant */
inline message() { unsent = 1; ph = ANALYSING; nutt++ }
/* the next of those that wait, of which these are the last */
inline waits(n) { queue = queue + n - 1; begin_turn(); message() }
inline ask() { if :: asked == 0 -> xtool = xtool | 4 :: else fi; asked++; ap = A_ASKING; yes = 0; piece(QUESTION); askseq = nseq }
inline pop() { i0 = 0; do :: i0 + 1 < MAXC -> calls[i0] = calls[i0 + 1]; destr[i0] = destr[i0 + 1]; allow[i0] = allow[i0 + 1]; i0++ :: else -> break od; i0 = 0; ncall--; ap = A_NONE; yes = 0 }
inline drop_question() { if :: kind == QUESTION && lineup -> flush() :: else -> if :: kind == QUESTION -> kind = ANSWER :: else fi fi }
inline approve() { drop_question(); runcall = calls[0]; rd_ = destr[0]; ra_ = allow[0]; xtool = xtool | 1; pop(); ph = GENERATING; forget_doubt() }
inline forget_doubt() { doubt = 0; meant = 0 }
inline next_call() {
  if
  :: ncall > 0 && !allow[0] -> asked = 0; ask()
  :: ncall > 0 && allow[0] -> asked = 0; yes = 0; if :: lineup -> ap = A_ASKING :: else -> approve() fi
  :: else ->
     ap = A_NONE; 
     if
     :: round + 1 >= rounds_ -> rstage = 4; failed()
     :: else ->
        round++; xsend = 1; 
        if :: atools -> rst = R_SEARCH :: else -> rst = R_SENT fi
     fi
  fi
}
/* what was begun answers no question about another call */
inline reject() { drop_question(); xtool = xtool | 8; pop(); i0 = 0; do :: i0 < U -> uel[i0] = 0; i0++ :: else -> break od; i0 = 0; ph = GENERATING; forget_doubt(); next_call() }
/* the answer is cut off for good */
inline cut() {
  if
  :: expl -> flush(); end_turn(4)
  :: else -> cancel(); flush(); end_turn(16)
  fi
}
inline line_over() {
  /* everything that there is has been heard */
  if
  :: kind == ANSWER && ap == A_ASKING && asked == 0 && allow[0] -> approve(); first = nseq
  :: kind == QUESTION && ap == A_ASKING -> ap = A_LISTENING; ph = LISTENING; forget_doubt(); first = nseq
  :: kind == NOTICE -> end_turn(4); ph = LISTENING; forget_doubt(); first = nseq; upause = 0
  :: kind == READ -> end_turn(2); ph = LISTENING; forget_doubt(); first = nseq; upause = 0
  :: kind == ANSWER && rst == R_ENDED && runcall == 0 && ap == A_NONE -> rst = R_NONE; retry = 0; end_turn(2); ph = LISTENING; forget_doubt(); first = nseq; upause = 0
  :: else -> ph = GENERATING; forget_doubt()
  fi
}

/* what follows by itself */
inline settle() {
  look();
  /* a turn opens with the first onset that finds the floor free */
  if :: ph == LISTENING && !turn && (npend > 0 || (drafts > 0 && !hold)) -> begin_turn() :: else fi;
  /* the rest goes on when nothing was meant */
  if
  :: doubt && ph == LISTENING && quiet ->
     if :: lineup && ready && !hold -> ph = SPEAKING; forget_doubt() :: !(lineup && ready) && ap == A_NONE -> ph = GENERATING; forget_doubt() :: !(lineup && ready) && ap != A_NONE -> forget_doubt() :: else fi
  :: else
  fi;
  if
  :: resyn && !hold ->
     resyn = 0; 
     if :: ph == SPEAKING -> if :: lineup || rst == R_STREAM -> ph = GENERATING :: else -> line_over() fi :: else fi
  :: else
  fi;
  if
  :: (ph == GENERATING || ph == LISTENING) && ready && quiet && !hold && !doubt -> ph = SPEAKING
  :: else
  fi;
  if
  :: (wanted || (mfail && ph == ANALYSING && unsent)) && alive && !loading && (rst == R_NONE || (rst == R_ENDED && ap == A_NONE && runcall == 0)) && free -> loading = 1; wanted = 0; mfail = 0
  :: else
  fi;
  if
  :: ph == ANALYSING && unsent && free && !hold && !loading ->
     unsent = 0; req++; round = 0; xsend = 1; chars = 0; said = 0;
     if :: atools && !nosearch -> rst = R_SEARCH :: else -> rst = R_SENT fi;
     nosearch = 0
  :: else
  fi;
  if
  :: yes && ap == A_LISTENING && quiet -> approve()
  :: else
  fi;
  /* speech is asked for unless the conversation is held */
  if
  :: !hold && connected ->
     xspeak = xspeak + nseq - spoken; spoken = nseq
  :: else
  fi
}

#include "step.pml"
