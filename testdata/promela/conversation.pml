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
#define T_REVOKE 20

/* reasons to hold */
#define H_USER 1
#define H_RENEWAL 2
#define H_CONNECTION 4
#define H_MICROPHONE 8
#define H_DIAGNOSTICS 16
#define H_HEARTBEAT 32
#define H_SPEAKER 64
#define H_DEVICES (H_MICROPHONE | H_SPEAKER)

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
#define C_AGREE 9
#define C_ASSENT 10
#define C_UNCLEAR 11
#define C_ATTENTION 12

/* what was open at the onset of an utterance */
#define O_NOTHING 0
#define O_PROSE 1    /* the answer before ended with a question */
#define O_REQUEST 2
#define O_ANSWER 3
#define O_UNHEARD 4  /* a question about a call, before it was heard */
#define O_QUESTION 5
#define O_DECIDED 6

/* what words mean */
#define M_NOTHING 0
#define M_MESSAGE 1
#define M_YES 2
#define M_ASSENT 3   /* a yes to what can be undone */
#define M_NO 4
#define M_UNCLEAR 5
#define M_DOUBT 6
#define M_STOP 7
#define M_PAUSE 8
#define M_CONTINUE 9
#define M_SEND 10

/* what follows from them here */
#define F_NOTHING 0
#define F_CONTENT 1
#define F_DRAFT 2
#define F_SEND 3
#define F_STOP 4
#define F_YES 5
#define F_NO 6
#define F_UNCLEAR 7
#define F_DOUBT 8
#define F_PAUSE 9
#define F_CONTINUE 10

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
#define A_DECIDING 3 /* the user said yes, and may take it back */

#ifndef U
#define U 16
#endif

byte ph, hold;
/* a lost device takes away its own side: without the microphone the user is not heard, without
   the speaker nothing is said, without both nothing goes on */
#define holds_(h) (((h) & ~H_DEVICES) != 0 || ((h) & H_DEVICES) == H_DEVICES)
#define held holds_(hold)
#define deaf (held || (hold & H_MICROPHONE) != 0)
#define voiceless (held || (hold & H_SPEAKER) != 0)
bit starting, ses, aud, cap, conn, recovering;
byte ust[U];
byte uov[U];         /* what was open when it began */
bit udr[U];          /* the user interrupted after it began */
short uat[U];        /* the order of onsets */
short nonset;
bit doubt, meant;    /* the rest is kept until it is known what was said; words that count were heard */
bit turn, words, expl, acted, manual, atools;
byte profile = CONFIRMED, turns;
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
bit reads[MAXC];     /* changes nothing */
bit qheard;          /* the question was heard */
byte drafts, maxqueue = 8, maxrounds = 10, rounds_, rstage, hrd;
short chars;
bit uttered;         /* the turn has words */
bit aturn;           /* its answer was begun to be heard */
bit prose;           /* the answer ended with a question */
bit rdestr, rd_, rallow, ra_, rreads, rr_;
bit astart;          /* another conversation begins when this one has ended */
byte atexts;         /* what was typed for it */
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
bit xlost;           /* words were lost or not understood */
byte i0;
byte over, means, trig, first_;
bit dropped, byhand, on;
bit post0;

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
#define underway (rst == R_SEARCH || streaming || runcall != 0) /* the assistant works on it */
#define playback (lineup || underway)
#define passing (ap != A_NONE && asked == 0 && allow[0]) /* nobody is asked about it */
#define asking_ (ap != A_NONE && !passing)
#define inwriting (voiceless && !held && lineup && !underway && ap == A_NONE) /* a whole answer that only lacks a speaker */
#define again_ (!lineup && asked < 2)
#define MAN ((turn || ph == INTERRUPTED) -> man : turns)
#define PROF ((turn || ph == INTERRUPTED) -> prof : profile)
#define sounds ((ph == SPEAKING || doubt) && ready) /* the line was begun, and may be paused */
#define lastpiece (hrd + 1 >= nseq)

inline refuse_() { if :: ev <= USER_PLAYBACK -> xrefused = 1 :: else fi }
inline later() { if :: queue < maxqueue -> queue++ :: else -> refuse_() fi }
inline draft() { if :: drafts < maxqueue -> drafts++ :: else fi }
/* drafts wait no longer */
inline hand_in() {
  if :: queue + drafts <= maxqueue -> queue = queue + drafts :: else -> queue = maxqueue; refuse_() fi;
  drafts = 0
}
inline begin_turn() { turn = 1; words = 0; uttered = 0; aturn = 0; expl = 0; acted = 0; upause = 0; prof = profile; man = turns; atools = tools; rounds_ = maxrounds; xturn = xturn | 1 }
inline end_turn(how) {
  if
  :: turn ->
     xturn = xturn | (expl && how != 16 -> 4 : how); turn = 0; words = 0; expl = 0; acted = 0; uttered = 0; aturn = 0;
     if :: how != 2 -> prose = 0 :: else fi
  :: else
  fi
}
inline flush() {
  if :: lineup || nseq != first -> gen++; xflush = 1 :: else fi;
  drn = nseq; hrd = nseq; buf = nseq; spoken = nseq; first = nseq; kind = ANSWER; doubt = 0; meant = 0; resyn = 0; upause = 0
}
inline wipe() { i0 = 0; do :: i0 < MAXC -> calls[i0] = 0; destr[i0] = 0; allow[i0] = 0; reads[i0] = 0; i0++ :: else -> break od; i0 = 0; ncall = 0 }
/* what was begun answers no question any more */
inline decide() { i0 = 0; do :: i0 < U -> if :: ust[i0] != NONE && uov[i0] >= O_UNHEARD -> uov[i0] = O_DECIDED :: else fi; i0++ :: else -> break od; i0 = 0 }
inline cancel() {
  if
  :: rst == R_SEARCH -> xcancel++; dys = req; dyr = round
  :: streaming -> xcancel++; dyc = req; dyr = round
  :: else
  fi;
  if :: runcall != 0 -> xtool = xtool | 2; dyT = runcall; runcall = 0 :: else fi;
  if :: ap != A_NONE -> xtool = xtool | 8; decide() :: else fi;
  ncall = 0; ap = A_NONE; asked = 0; qheard = 0; rst = R_NONE; unsent = 0; awaitwords = 0; wipe()
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
  cancel(); flush(); end_turn(how);
  forget(); queue = 0; drafts = 0; ses = 0; aud = 0; cap = 0; conn = 0; starting = 0; upause = 0
}
inline fault() { if :: turn -> at_stage() :: else fi; all_over(4); ph = FAULTED; hold = hold & H_USER }
inline terminate() { all_over(8); ph = TERMINATING; hold = 0 }
inline notice() { expl = 1; piece(NOTICE) }
/* the user is told aloud, unless it is the user who speaks */
inline explain() {
  look();
  if :: npend > 0 -> flush(); end_turn(4) :: else -> notice() fi
}
inline may_retry() { retry = 1; rdestr = rd_; rallow = ra_; rreads = rr_ }
/* what can be tried again, and from where */
inline at_stage() {
  if
  :: uttered && !expl ->
     may_retry();
     if :: rst == R_SEARCH -> rstage = 1 :: rst == R_SENT -> rstage = 2 :: rst == R_STREAM -> rstage = 3 :: runcall != 0 -> rstage = 4 :: else -> rstage = 0 fi
  :: else
  fi
}
/* the request failed; what was said before is still heard */
inline failed() {
  rst = R_NONE; may_retry(); unsent = 0; awaitwords = 0; wipe();
  if
  :: processing && (hrd == nseq || !lineup) -> ph = LISTENING; explain()
  :: else -> notice()
  fi
}
/* words that are for the assistant */
inline message() { unsent = 1; ph = ANALYSING; uttered = 1; nosearch = 0 }
/* a turn whose words were none is over */
inline dismiss() { look(); if :: npend == 0 && !lineup && !uttered -> end_turn(8) :: else fi }
inline words_lost() {
  xlost = 1; look();
  if :: npend == 0 && turn && !uttered && !aturn && !expl -> notice() :: else fi
}
/* what is to be said yet is not, as the user has the floor */
inline stop_speech() {
  if
  :: doubt -> cut(); ph = LISTENING
  :: !doubt && lineup -> flush(); if :: rst == R_ENDED -> rst = R_NONE :: else fi; end_turn(8)
  :: else
  fi
}
inline ask() { if :: asked == 0 -> xtool = xtool | 4 :: else fi; asked++; ap = A_ASKING; piece(QUESTION); askseq = nseq }
inline pop() { i0 = 0; do :: i0 + 1 < MAXC -> calls[i0] = calls[i0 + 1]; destr[i0] = destr[i0 + 1]; allow[i0] = allow[i0 + 1]; reads[i0] = reads[i0 + 1]; i0++ :: else -> break od; i0 = 0; ncall--; ap = A_NONE; asked = 0; qheard = 0; decide() }
inline drop_question() { if :: kind == QUESTION && lineup -> flush() :: else -> if :: kind == QUESTION -> kind = ANSWER :: else fi fi }
inline approve() { if :: asked == 0 && allow[0] && reads[0] && !said :: else -> acted = 1 fi; drop_question(); runcall = calls[0]; rd_ = destr[0]; ra_ = allow[0]; rr_ = reads[0]; xtool = xtool | 1; pop(); ph = GENERATING; forget_doubt() }
inline forget_doubt() { doubt = 0; meant = 0 }
inline next_call(stage) {
  if
  :: ncall > 0 && !allow[0] -> asked = 0; qheard = 0; decide(); ask()
  :: ncall > 0 && allow[0] -> asked = 0; qheard = 0; decide(); if :: lineup -> ap = A_ASKING :: else -> approve() fi
  :: else ->
     ap = A_NONE;
     if
     :: round + 1 >= rounds_ -> rstage = stage; rst = R_NONE; may_retry(); unsent = 0; awaitwords = 0; wipe(); ph = LISTENING; notice()
     :: else ->
        round++; xsend = 1;
        if :: atools -> rst = R_SEARCH :: else -> rst = R_SENT fi
     fi
  fi
}
inline reject() { acted = 1; drop_question(); xtool = xtool | 8; pop(); ph = GENERATING; forget_doubt(); next_call(0) }
/* the answer is cut off for good */
inline cut() {
  if :: uttered && !expl -> may_retry(); rstage = 0 :: else fi;
  cancel(); flush(); end_turn(16); prose = 0
}
inline line_over() {
  /* everything that there is has been heard */
  if
  :: kind == ANSWER && ap == A_ASKING && asked == 0 && allow[0] -> approve(); first = nseq
  :: kind == QUESTION && ap == A_ASKING -> ap = A_LISTENING; qheard = 1; ph = LISTENING; forget_doubt(); first = nseq
  :: kind == NOTICE -> end_turn(4); ph = LISTENING; forget_doubt(); first = nseq; upause = 0
  :: kind == READ -> end_turn(2); ph = LISTENING; forget_doubt(); first = nseq; upause = 0
  :: kind == ANSWER && rst == R_ENDED && runcall == 0 && ap == A_NONE -> rst = R_NONE; retry = 0; end_turn(2); ph = LISTENING; forget_doubt(); first = nseq; upause = 0
  :: else -> ph = GENERATING; forget_doubt()
  fi
}

inline listen() {
  if
  :: ev == USER_RETRY && !xrefused -> skip /* which opens one itself */
  :: !(ev == USER_RETRY && !xrefused) && ph == LISTENING && !turn && drafts > 0 && queue == 0 -> begin_turn(); words = 1; uttered = 1; drafts = 0
  :: !(ev == USER_RETRY && !xrefused) && ph == LISTENING && !turn && !(drafts > 0 && queue == 0) && npend > 0 -> begin_turn()
  :: else
  fi
}

/* what follows by itself */
inline settle() {
  look();
  /* a yes is taken back by what is lost or not understood after it; without effects it need not wait */
  if
  :: ap == A_DECIDING && (xlost || deaf) -> if :: again_ -> ask() :: else -> ap = A_LISTENING fi
  :: ap == A_DECIDING && !(xlost || deaf) && reads[0] && quiet -> approve()
  :: passing && ap == A_ASKING && lineup && voiceless && !held && !upause && quiet -> if :: sounds -> again() :: else fi; approve() /* what was said before it can be read */
  :: else
  fi;
  /* the user ended the turn by hand, and its words are all there */
  if
  :: ph == ANALYSING && awaitwords ->
     on = 0; i0 = 0; do :: i0 < U -> if :: ust[i0] == AWAITED && ucm[i0] -> on = 1 :: else fi; i0++ :: else -> break od; i0 = 0;
     if
     :: !on ->
        awaitwords = 0;
        if :: uttered -> unsent = 1 :: !uttered && expl -> ph = LISTENING :: else -> ph = LISTENING; dismiss() fi
     :: else
     fi
  :: else
  fi;
  if :: ph == INTERRUPTED && doubt && quiet -> ph = SPEAKING; forget_doubt() :: else fi;
  /* the rest goes on when nothing was meant */
  if
  :: doubt && ph == LISTENING && quiet ->
     if :: lineup && ready && !voiceless -> ph = SPEAKING; forget_doubt() :: !(lineup && ready) && ap == A_NONE -> if :: underway -> ph = GENERATING :: else fi; forget_doubt() :: !(lineup && ready) && ap != A_NONE -> forget_doubt() :: else fi
  :: else
  fi;
  if
  :: resyn ->
     resyn = 0;
     if :: ph == SPEAKING -> if :: lineup || rst == R_STREAM -> ph = GENERATING :: else -> line_over() fi :: else fi
  :: else
  fi;
  /* the turn is over when nothing more comes and everything was heard */
  if
  :: turn && !lineup && !underway && ap == A_NONE && (ph == GENERATING || (ph == LISTENING && (aturn || expl))) ->
     if :: expl -> end_turn(4) :: else -> if :: uttered -> retry = 0 :: else fi; end_turn(2) fi;
     rst = R_NONE; ph = LISTENING; forget_doubt(); upause = 0
  :: else
  fi;
  if
  :: (ph == GENERATING || ph == LISTENING) && ready && quiet && !voiceless && !doubt -> ph = SPEAKING; aturn = 1
  :: else
  fi;
  /* nothing waits behind a paused voice */
  if
  :: ph == SPEAKING && upause && queue > 0 && (!underway || ap != A_NONE) -> cut(); ph = INTERRUPTED
  :: else
  fi;
  /* nor behind what only lacks a speaker, which is shown in writing */
  if
  :: inwriting && queue > 0 ->
     if
     :: ph == SPEAKING || ph == GENERATING -> cut(); ph = LISTENING
     :: ph == LISTENING && quiet -> stop_speech()
     :: else
     fi
  :: else
  fi;
  if :: ph == INTERRUPTED && !doubt && voiceless -> ph = LISTENING :: else fi;
  /* a turn opens with the first onset that finds the floor free */
  listen();
  if
  :: (wanted || (mfail && ph == ANALYSING && unsent)) && alive && !loading && (rst == R_NONE || (rst == R_ENDED && ap == A_NONE && runcall == 0)) && free -> loading = 1; wanted = 0; mfail = 0
  :: else
  fi;
  if
  :: ph == ANALYSING && unsent && free && !held && !loading ->
     unsent = 0; req++; round = 0; xsend = 1; chars = 0; said = 0; words = 0; prose = 0;
     if :: atools && !nosearch -> rst = R_SEARCH :: else -> rst = R_SENT fi;
     nosearch = 0
  :: else
  fi;
  if :: !playback -> upause = 0 :: else fi;
  /* speech is asked for unless nothing can be heard */
  if
  :: !voiceless && connected ->
     xspeak = xspeak + nseq - spoken; spoken = nseq
  :: else
  fi
}

#include "step.pml"
