/* The world, as far as the conversation can tell: whatever may happen next, in any
   order. Ids are numbered anew after each step, so that the states are finite. */
c_decl {
\#include <stdio.h>
\#include <stdlib.h>
#define SITUATIONS 28
static const char *situations[SITUATIONS] = {
  "a barge-in over an answer", "a barge-in over a question", "a retraction", "a cut after a retraction",
  "held by the user in the middle of an answer", "held by the user and the connection at once", "resumed into speech",
  "a fault under a hold by the user", "a yes that counts", "a yes that comes too early", "a question that silence rejects",
  "a yes that may be taken back while the user speaks", "an explanation that is spoken over", "a voice that stays paused over an underrun",
  "an answer that is synthesised again", "an utterance that waits for a cancelled request",
  "a yes that is withdrawn", "a question that the user holds", "words that join their request", "words dropped by an interrupt",
  "a queue that ends a paused voice", "a conversation begun while the one before ends", "words that were not understood",
  "an utterance older than the question",
  "a message that is heard without a speaker", "an answer that is spoken without a microphone", "a queue that ends speech without a speaker",
  "a question that is not heard without a speaker, and allowed by a click",
};
static int seen[SITUATIONS];
static void report(void) {
  int i, n = 0;
  for (i = 0; i < SITUATIONS; i++) if (seen[i]) n++; else printf("NEVER %s\n", situations[i]);
  printf("REACHED %d of %d\n", n, SITUATIONS);
}
}
#define when(n, what) if :: (what) -> c_code { seen[n] = 1; } :: else fi

byte ph0, hold0, kind0, ap0, rst0, over0, queue0, drafts0, npend0;
bit sounded0, doubt0, up0, line0, drop0, destr0, heard0, unsent0, uttered0;
bit userheld, byuser, lasting;
bit called, consent, takes, click;

#ifndef HOLDS
#define HOLDS 1
#endif
#ifndef DEVICES
#define DEVICES 1
#endif
#ifndef TOOLS
#define TOOLS 1
#endif
#ifndef LINE
#define LINE 2
#endif
#ifndef TURNS
#define TURNS 0
#endif
#ifndef HANDS
#define HANDS 1
#endif
#define NAMED 16
#define DOUBTED 32
#define WORDLESS 64
#define DESTROYS 1
#define ALLOWED 2
#define READS 4
#define CALL 8

inline happen() {
  ea = 0; eb = 1; ec = 0;
  if
  :: ph == IDLE && !starting -> ev = USER_START
  :: ph == FAULTED && !starting -> ev = USER_START
  :: (ph != IDLE && ph != TERMINATING) || (ph == TERMINATING && (astart || atexts > 0)) -> ev = USER_STOP
  :: HANDS && ph == TERMINATING && !astart -> ev = USER_START
  :: starting && !ses -> ev = SESSION_READY
  :: starting && !aud -> ev = AUDIO_PRIMED
  :: ph == PREPARING && !cap -> ev = AUDIO_READY
  :: (ph == PREPARING && !conn) || (hold & H_CONNECTION) -> ev = CONN_READY
  :: starting || alive -> ev = SESSION_FAILED
  :: ph == FAULTED -> ev = FATAL
  :: ph == TERMINATING -> ev = RESET
  :: HOLDS && (connected && conn) -> ev = CONN_LOST
  :: HOLDS && (connected && conn) -> ev = CONN_LOST; ec = 1
    :: HOLDS && (alive || ph == FAULTED) -> ev = SUSPEND; ea = H_USER
  :: (hold & H_USER) != 0 -> ev = RESUME; ea = H_USER
  :: DEVICES && alive && (hold & H_MICROPHONE) == 0 -> ev = DEVICE_LOST; ea = 1
  :: DEVICES && alive && (hold & H_SPEAKER) == 0 -> ev = DEVICE_LOST; ea = 2
  :: DEVICES && alive && (hold & H_DEVICES) == 0 -> ev = DEVICE_LOST
  :: (hold & H_MICROPHONE) != 0 -> ev = DEVICE_RESTORED; ea = 1
  :: (hold & H_SPEAKER) != 0 -> ev = DEVICE_RESTORED; ea = 2
  :: connected -> ev = USER_INTERRUPT
  :: HANDS && (connected || ph == IDLE || ph == PREPARING || ph == TERMINATING) -> ev = USER_TEXT
  :: HANDS && connected -> ev = USER_PLAYBACK; if :: ea = 1 :: ea = 0 fi
  :: (HANDS || TURNS == 2) && connected -> ev = USER_COMMIT
  :: HANDS && connected && retry -> ev = USER_RETRY; eb = 0
  :: ap != A_NONE -> ev = USER_APPROVE; ea = 1; if :: eb = 1 :: eb = 0 fi
  :: connected && !deaf && !talking && npend < U -> ev = VAD_START; ea = npend
  :: talking -> ev = VAD_END; ea = npend - 1; if :: ec = 1 :: ec = 0 fi
  /* words come in the order of onsets */
  :: npend > 0 && (doubt || PROFILE == BYWORDS) -> ev = STT_PARTIAL
  :: npend > 0 -> ev = STT_FINAL;
     if
     :: ec = C_CONTENT :: ec = C_CONTENT + DOUBTED :: ec = C_EMPTY :: ec = C_BACKCHANNEL :: ec = C_STOP :: ec = C_YES :: ec = C_YES + NAMED
     :: ec = C_NO :: ec = C_PAUSE :: ec = C_CONTINUE :: ec = C_AGREE :: ec = C_UNCLEAR :: TURNS == 2 -> ec = C_SEND :: TURNS == 2 -> ec = C_SEND + WORDLESS
     fi
  :: npend > 0 -> ev = STT_FAILED
  :: rst == R_SENT && ph == ANALYSING -> ev = COPILOT_REQUEST; ea = req; eb = round
  :: streaming && nseq < LINE -> ev = COPILOT_SEGMENT; ea = req; eb = round; ec = 1
  /* a call reads unless it is destructive, or it does neither */
  :: TOOLS && streaming && ncall == 0 -> ev = COPILOT_TOOLCALL; ea = req; eb = round; if :: ec = CALL + READS :: ec = CALL :: ec = CALL + DESTROYS :: ec = CALL + READS + ALLOWED fi
  :: streaming -> ev = COPILOT_DONE; ea = req; eb = round; if :: ec = 0 :: ec = 1 :: HANDS -> ec = 4 fi
  :: dyc != 0 && !streaming -> ev = COPILOT_DONE; ea = dyc; eb = dyr; ec = 2
  :: runcall != 0 -> ev = TOOL_DONE; ea = runcall; if :: ec = 0 :: ec = 1 fi
  :: dyT != 0 && runcall == 0 -> ev = TOOL_DONE; ea = dyT; ec = 2
  :: spoken > buf -> ev = TTS_BUFFERED; ea = buf + 1; eb = gen
  :: buf > drn && ph == SPEAKING -> ev = TTS_DRAINED; ea = buf; eb = gen
  :: buf > drn && ph == INTERRUPTED && doubt -> ev = TTS_DRAINED; ea = buf; eb = gen
  :: spoken > drn -> ev = TTS_FAILED; ea = drn + 1; eb = gen
  :: ph == INTERRUPTED && !doubt -> ev = TTS_FLUSHED; eb = gen - 1
  :: ph == LISTENING && queue > 0 && ap == A_NONE && !lineup -> ev = QUEUE_NEXT
  :: need != 0 -> ev = TIMER;
     if
     :: need & (1 << T_UTTERANCE) -> ea = T_UTTERANCE
     :: need & (1 << T_FINAL) -> ea = T_FINAL
     :: need & (1 << T_RESPONSE) && rst == R_SENT -> ea = T_RESPONSE
     :: need & (1 << T_STALL) -> ea = T_STALL
     :: need & (1 << T_CANCEL) -> ea = T_CANCEL
     :: need & (1 << T_TOOL) && runcall != 0 -> ea = T_TOOL
     :: need & (1 << T_INTERRUPT) -> ea = T_INTERRUPT
     :: need & (1 << T_CONFIRM) -> ea = T_CONFIRM
     :: need & (1 << T_APPROVAL) -> ea = T_APPROVAL
     :: need & (1 << T_REVOKE) -> ea = T_REVOKE
     :: need & (1 << T_SPEECH) -> ea = T_SPEECH
     :: need & (1 << T_SUSPEND) -> ea = T_SUSPEND
     :: need & ((1 << T_START) | (1 << T_PREPARE)) -> ea = T_START
     :: need & (1 << T_TERMINATE) -> ea = T_TERMINATE
     :: else -> ea = 31
     fi
  fi
}

inline renumber() {
  nseq = nseq - first; drn = drn - first; hrd = hrd - first; buf = buf - first; spoken = spoken - first; first = 0;
  if :: drn > 0 -> nseq = nseq - drn + 1; buf = buf - drn + 1; spoken = spoken - drn + 1; drn = 1 :: else fi;
  /* those that were begun first come first */
  if :: U > 1 && ust[0] == NONE && ust[U - 1] != NONE -> ust[0] = ust[U - 1]; uov[0] = uov[U - 1]; udr[0] = udr[U - 1]; ucm[0] = ucm[U - 1]; ust[U - 1] = NONE :: else fi;
  i0 = 0; do :: i0 < U -> uat[i0] = i0; if :: ust[i0] == NONE -> uov[i0] = 0; ucm[i0] = 0; udr[i0] = 0 :: else fi; i0++ :: else -> break od; i0 = 0;
  i0 = 0; do :: i0 < U -> if :: udr[i0] -> uov[i0] = 0 :: else fi; i0++ :: else -> break od; i0 = 0;
  nonset = U;
  if :: !doubt -> meant = 0 :: else fi;
  if :: !HANDS -> retry = 0 :: else fi; /* nobody tries again */
  if :: !retry -> rstage = 0; rdestr = 0; rallow = 0; rreads = 0 :: else fi;
  if :: ap == A_NONE -> asked = 0; qheard = 0 :: else fi;
  if :: !lineup -> kind = ANSWER :: else fi;
  if :: !lineup -> nseq = 0; drn = 0; buf = 0; spoken = 0 :: else fi;
  said = (said && rst != R_NONE);
  hrd = drn; askseq = 0; gen = 1; chars = 0; if :: runcall == 0 -> rd_ = 0; ra_ = 0; rr_ = 0 :: else fi;
  if
  :: rst == R_NONE && dyc == 0 && dys == 0 -> req = 0; round = 0; dyr = 0
  :: rst != R_NONE && dyc == 0 && dys == 0 -> req = 1; dyr = 0
  :: rst == R_NONE && (dyc != 0 || dys != 0) -> req = 1; if :: dyc != 0 -> dyc = 1 :: else fi; if :: dys != 0 -> dys = 1 :: else fi; dyr = 0; round = 0
  :: else
  fi
}

/* What must hold of every step; see the requirements beside each. */
inline promises() {
  /* design 2, INT-005: one request at a time */
  assert(!(rst == R_SEARCH || streaming) || free);
  assert(xsend <= 1);
  /* design 4, REQ-006: Speaking has something buffered; what is interrupted does not sound */
  assert(ph != SPEAKING || voiceless || ready);
  assert(!(ph == INTERRUPTED || ph == LISTENING) || !sounding);
  /* REQ-008, design 5: nothing is sent, synthesised, heard or recorded while it is held; nothing is
     recorded without a microphone, and nothing synthesised or heard without a speaker */
  assert(!(held && alive) || (!mic && !sounding && xspeak == 0));
  assert((hold & H_MICROPHONE) == 0 || !mic);
  assert((hold & H_SPEAKER) == 0 || (!sounding && xspeak == 0));
  /* a lost device takes away nothing of the other side: words are still heard, an answer still spoken */
  assert(!(ev == DEVICE_LOST && ea == 2 && hold == H_SPEAKER) || npend == npend0);
  assert(!(ev == DEVICE_LOST && ea == 1 && hold == H_MICROPHONE && sounded0) || sounding);
  assert(!(held && holds_(hold0)) || !(xsend == 1 && rst0 == R_NONE));
  /* design 14: a hold by the user ends only by the user */
  byuser = (ev == RESUME && ea == H_USER) || ev == USER_START || ev == USER_STOP || ev == FATAL || ev == RESET;
  assert(!((hold0 & H_USER) && !(hold & H_USER)) || byuser);
  userheld = (hold & H_USER) != 0;
  /* REQ-007: stop silences; design 15: and what was said before it is not sent */
  lasting = 0; i0 = 0; do :: i0 < U -> if :: ust[i0] != NONE && !udr[i0] -> lasting = 1 :: else fi; i0++ :: else -> break od; i0 = 0;
  assert(!(ev == USER_INTERRUPT && !xrefused) || (!sounding && !lineup && rst == R_NONE && runcall == 0 && ap == A_NONE && queue == 0 && drafts == 0 && !lasting));
  assert(!(ev == STT_FINAL && drop0) || (queue == queue0 && drafts == drafts0 && unsent == unsent0 && (uttered == uttered0 || !turn) && (xtool & 1) == 0));
  assert(!(ev == STT_FINAL && ec == C_STOP && !drop0 && !stale && ph0 == SPEAKING) || (!sounding && !lineup));
  /* design 13 and 14, and the approval by voice: a call is carried out after a click, or where the
     user allowed such calls beforehand, or after a yes whose onset followed the question that was
     heard, with nothing pending, lost or unclear after it; never by silence */
  called = ((xtool & 1) != 0);
  click = (ev == USER_APPROVE && eb == 1 && !xrefused);
  takes = deaf || (ev == STT_FAILED && !stale) || (ev == TIMER && (ea == T_FINAL || ea == T_UTTERANCE)) ||
    (ev == STT_FINAL && !drop0 && (ec == C_NO || ec == C_UNCLEAR || ec == C_PAUSE || ec == C_STOP || (ec & DOUBTED)));
  assert(!(ap0 == A_DECIDING && takes) || (ap != A_DECIDING && (!called || click)));
  if
  :: takes || (ap != A_DECIDING && !called) -> consent = 0
  :: !takes && (ap == A_DECIDING || called) && ev == STT_FINAL && over0 == O_QUESTION && heard0 && !drop0 && ((ec == C_YES && !destr0) || ec == C_YES + NAMED || (!destr0 && (ec == C_AGREE || ec == C_CONTINUE))) -> consent = 1
  :: else
  fi;
  assert(ap != A_DECIDING || (consent && heard0 && ph == LISTENING && !lineup && !deaf));
  assert(!called || ra_ || click || (consent && quiet && !deaf));
  assert(!called || ra_ || click || (rr_ && ev == STT_FINAL) || (ev == TIMER && ea == T_REVOKE));
  assert(!(ev == STT_FINAL && ec == C_NO && (xtool & 8) && !up0) || over0 == O_UNHEARD || over0 == O_QUESTION || over0 == O_ANSWER);
  if :: called -> consent = 0 :: else fi;
  assert(runcall == 0 || dyT == 0);
  /* design 6 and 7: who is answered has a turn */
  assert(!(unsent || rst != R_NONE || ap != A_NONE || runcall != 0 || expl) || turn);
  assert(turn || !lineup);
  /* the assistant never begins to speak over the user */
  assert(!(ph == SPEAKING && ph0 != SPEAKING) || !talking);
  /* design 16: what waits has something before it that ends, and no paused voice */
  assert(queue == 0 || !alive || held || idling || sounding || need != 0);
  assert(!(queue > 0 && upause && ph == SPEAKING && !underway));
  /* design 8: who waits has a deadline */
  assert(!(ph == ANALYSING || ph == WAITING || ph == GENERATING || ph == INTERRUPTED) || held || need != 0);
  assert(!((ap == A_LISTENING || ap == A_DECIDING) && ph == LISTENING) || held || need != 0);
  assert(!(hold & ~H_USER) || !alive || (need & (1 << T_SUSPEND)));
  /* design 9: after the end nothing is left */
  assert(alive || (!lineup && rst == R_NONE && runcall == 0 && ap == A_NONE && (queue == 0 || (ph == IDLE && starting)) && npend == 0 && !turn))
}
inline interesting() {
  when(0, ph0 == SPEAKING && ph == INTERRUPTED && doubt && kind != QUESTION);
  when(1, ph0 == SPEAKING && ph == INTERRUPTED && doubt && kind == QUESTION);
  when(2, doubt0 && !doubt && ph == SPEAKING);
  when(3, ph == INTERRUPTED && !doubt && ev == STT_FINAL);
  when(4, !hold0 && userheld && ph == SPEAKING);
  when(5, hold & H_USER && hold & H_CONNECTION);
  when(6, hold0 && !hold && ph == SPEAKING);
  when(7, ph0 != FAULTED && ph == FAULTED && userheld);
  when(8, called && ev == TIMER && ea == T_REVOKE);
  when(9, ev == STT_FINAL && ec == C_YES && over0 == O_UNHEARD && ap == A_ASKING);
  when(10, ev == TIMER && ea == T_APPROVAL && (xtool & 8) != 0);
  when(11, ap == A_DECIDING && !quiet);
  when(12, kind0 == NOTICE && line0 && ev == VAD_START && !lineup);
  when(13, up0 && upause && ev == TTS_DRAINED && ph == GENERATING);
  when(14, ev == CONN_READY && xflush);
  when(15, unsent && ph == ANALYSING && !free);
  when(16, ap0 == A_DECIDING && ap == A_ASKING);
  when(17, ev == STT_FINAL && ec == C_PAUSE && ap0 == A_ASKING && ap == A_LISTENING && qheard);
  when(18, ev == STT_FINAL && rst0 != R_NONE && xcancel > 0 && unsent && xturn == 0);
  when(19, ev == STT_FINAL && drop0 && !stale);
  when(20, ph0 == SPEAKING && up0 && queue > 0 && ph == INTERRUPTED && !doubt);
  when(21, ev == RESET && starting);
  when(22, ev == STT_FINAL && (ec & DOUBTED) && expl);
  when(23, ev == STT_FINAL && ap0 != A_NONE && ap != A_NONE && queue > queue0);
  when(24, ev == STT_FINAL && hold == H_SPEAKER && xsend == 1);
  when(25, hold == H_MICROPHONE && ph0 != SPEAKING && ph == SPEAKING && sounding);
  when(26, hold == H_SPEAKER && line0 && !lineup && queue > 0 && (xturn & 16));
  when(27, ev == USER_APPROVE && called && hold == H_SPEAKER && ap0 == A_ASKING)
}

active proctype conversation() {
  c_code { static int once; if (!once) { once = 1; atexit(report); } };
  profile = PROFILE; tools = 0; maxqueue = 1; maxrounds = 2; turns = TURNS;
  do
  :: atomic {
       happen();
       d_step {
         ph0 = ph; hold0 = hold; kind0 = kind; ap0 = ap; rst0 = rst; doubt0 = doubt; up0 = upause; line0 = lineup; look(); npend0 = npend; sounded0 = sounding;
         over0 = uov[U_(ea)] * (ev == STT_FINAL); drop0 = udr[U_(ea)] * (ev == STT_FINAL); destr0 = destr[0]; heard0 = qheard; queue0 = queue; drafts0 = drafts; unsent0 = unsent; uttered0 = uttered; post0 = idling;
       xsend = 0; xcancel = 0; xspeak = 0; xtool = 0; xturn = 0; xflush = 0; xrefused = 0; stale = 0; xlost = 0
       }
       event();
       d_step { skip; settle(); skip }
       d_step { skip; look(); deadlines(); skip }
       d_step { skip; promises(); interesting(); skip }
       d_step {
         skip; renumber();
       ph0 = 0; hold0 = 0; kind0 = 0; ap0 = 0; rst0 = 0; doubt0 = 0; up0 = 0; line0 = 0; npend0 = 0; sounded0 = 0; ev = 0; ea = 0; eb = 0; ec = 0; byuser = 0; userheld = 0; called = 0; click = 0; takes = 0; lasting = 0; over0 = 0; drop0 = 0; destr0 = 0; heard0 = 0; queue0 = 0; drafts0 = 0; unsent0 = 0; uttered0 = 0; post0 = 0;
       over = 0; means = 0; trig = 0; first_ = 0; dropped = 0; byhand = 0; on = 0; xlost = 0; post = 0;
       xsend = 0; xcancel = 0; xspeak = 0; xtool = 0; xturn = 0; xflush = 0; xrefused = 0; stale = 0; i0 = 0
       }
     }
  od
}

