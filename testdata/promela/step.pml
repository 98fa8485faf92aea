/* What each event does, and what can be seen of it. */
#define U_(x) ((x) % U)

inline start_() {
  if
  :: ph == IDLE && !starting -> starting = 1
  :: ph == FAULTED && !starting -> starting = 1; hold = 0
  :: else -> xrefused = 1
  fi
}
inline prepared() {
  if
  :: (ph == IDLE || ph == FAULTED) && ses && aud -> ph = PREPARING; starting = 0
  :: ph == PREPARING && cap && conn && !hold -> ph = LISTENING
  :: else
  fi
}

inline onset() {
  look();
  if
  :: !eb || hold || !connected || ust[U_(ea)] != NONE -> stale = 1
  :: else ->
     ust[U_(ea)] = VOICE;
     uel[U_(ea)] = (ap == A_LISTENING); ucm[U_(ea)] = 0;
     if
     :: ph == SPEAKING ->
        if
        :: prof == CONFIRMED || upause || (ap != A_NONE && prof != NEVER) -> ph = INTERRUPTED; doubt = 1; meant = 0
        :: prof == ATONCE && !upause && ap == A_NONE -> cut(); ph = INTERRUPTED
        :: else
        fi
     :: ph == LISTENING && !doubt && ap == A_ASKING && lineup && !ready -> flush() /* it is not said over the user */
     :: ph == LISTENING && !doubt && expl -> /* what was not begun to be said */
        flush(); end_turn(4)
     :: else
     fi
  fi
}

/* a voice is silent, for now or for good */
inline fell_silent(over) {
  look();
  if
  :: !eb || ust[U_(ea)] == NONE || ust[U_(ea)] == AWAITED || (!over && ust[U_(ea)] == SILENT) -> stale = 1
  :: else ->
     if :: over -> ust[U_(ea)] = AWAITED :: else -> ust[U_(ea)] = SILENT fi;
     if
     :: doubt && ec && !meant && npend == 1 && (ph == INTERRUPTED || ph == LISTENING) ->
        if :: ready -> ph = SPEAKING :: else -> skip fi; 
        forget_doubt()
     :: doubt && ph == INTERRUPTED && over && !(ec && !meant && npend == 1) -> ph = LISTENING
     :: else
     fi
  fi
}
inline went_on() {
  if
  :: !eb || ust[U_(ea)] != SILENT -> stale = 1
  :: else ->
     ust[U_(ea)] = VOICE;
     if
     :: ph == SPEAKING && !hold && (prof == CONFIRMED || upause || (ap != A_NONE && prof != NEVER)) -> ph = INTERRUPTED; doubt = 1; meant = 0
     :: ph == SPEAKING && !hold && prof == ATONCE && !upause && ap == A_NONE -> cut(); ph = INTERRUPTED
     :: else
     fi
  fi
}
inline partial() {
  if
  :: !eb || ust[U_(ea)] == NONE -> stale = 1
  :: (ec & 15) == C_EMPTY || (ec & 15) == C_BACKCHANNEL || ec >= 16 -> skip
  :: else ->
     if
     :: doubt && ph == INTERRUPTED -> meant = 1; ph = LISTENING
     :: doubt && ph == LISTENING -> meant = 1
     :: ph == SPEAKING && prof == BYWORDS && ap == A_NONE && !hold -> cut(); ph = INTERRUPTED
     :: else
     fi
  fi
}
#define class (ec & 15)
#define named ((ec & 16) != 0)
#define doubted ((ec & 32) != 0)
#define real (class == C_CONTENT || class == C_YES || class == C_NO || class == C_SEND || (class == C_CONTINUE && !lineup))
/* a yes that counts: understood to its end, begun after the question, and naming what cannot be undone */
#define allows (!doubted && uel[U_(ea)] && ap == A_LISTENING && (!destr[0] || named))

/* a call that is allowed waits for the words before it: yes and no are no answer to anything */
#define passing (ap != A_NONE && asked == 0 && allow[0])
#define reply ((class == C_YES || class == C_NO) && !passing)

/* words for the assistant, in Listening */
inline gather() {
  if
  :: man == 2 && class != C_SEND -> words = 1; nutt++
  :: else -> message()
  fi
}
#define counts (ph != SPEAKING || prof != NEVER) /* what is said over the assistant counts */
inline final() {
  look();
  if
  :: !eb || ust[U_(ea)] == NONE -> stale = 1
  :: else ->
     ust[U_(ea)] = NONE; look();
     if
     /* a question waits for its answer */
     :: ap != A_NONE && (ph == LISTENING || ph == INTERRUPTED || ph == SPEAKING || (ph == GENERATING && (class == C_YES || class == C_NO))) ->
        if
        :: class == C_EMPTY || class == C_BACKCHANNEL || (doubted && (class == C_CONTENT || (passing && (class == C_YES || class == C_NO)))) -> skip
        :: class == C_STOP ->
           if
           :: ph == SPEAKING -> if :: prof != NEVER -> cut(); ph = INTERRUPTED :: else -> skip fi
           :: else -> cancel(); flush(); end_turn(8); ph = LISTENING
           fi
        :: class == C_YES && reply && allows -> yes = 1
        :: (class == C_YES && reply && !allows) || (class == C_NO && reply && doubted) -> /* asked once more */
           if
           :: doubt || lineup -> skip
           :: else -> if :: asked < 2 -> ask() :: else -> ap = A_LISTENING; kind = ANSWER fi
           fi
        :: class == C_NO && reply && !doubted -> reject()
        :: class == C_PAUSE -> if :: lineup && counts -> upause = 1 :: else -> skip fi
        :: class == C_CONTINUE && (doubt || upause) -> upause = 0
        :: ((class == C_CONTENT || (passing && (class == C_YES || class == C_NO))) && !doubted) || class == C_SEND || (class == C_CONTINUE && !(doubt || upause)) ->
           if
           :: man == 2 && class != C_SEND && !ucm[U_(ea)] -> drafts++
           :: !(man == 2 && class != C_SEND && !ucm[U_(ea)]) && ph == SPEAKING && prof == NEVER -> later()
           :: else ->
              cancel(); flush(); end_turn(8);
              if
              :: ph == LISTENING && queue == 0 -> begin_turn(); message()
              :: else -> ph = LISTENING; later()
              fi
           fi
        fi
     :: doubt && ap == A_NONE && (ph == LISTENING || ph == INTERRUPTED) ->
        if
        :: class == C_EMPTY || class == C_BACKCHANNEL || doubted -> if :: ph == INTERRUPTED && quiet -> ph = SPEAKING; forget_doubt() :: else -> skip fi
        :: class == C_STOP -> cut(); ph = LISTENING
        :: class == C_PAUSE -> upause = 1
        :: class == C_CONTINUE -> upause = 0
        :: (class == C_CONTENT || class == C_YES || class == C_NO || class == C_SEND) && !doubted ->
           cut();
           if
           :: ph == LISTENING -> begin_turn(); gather()
           :: else -> ph = LISTENING; later()
           fi
        fi
     :: ph == LISTENING && ap == A_NONE && !doubt ->
        if
        :: class == C_EMPTY || class == C_BACKCHANNEL -> if :: turn && !words && !expl && npend == 0 -> end_turn(8) :: else -> skip fi
        :: class == C_STOP || class == C_PAUSE -> if :: expl -> flush(); end_turn(4) :: else -> end_turn(8) fi
        :: else ->
           if :: expl -> flush(); end_turn(4) :: else fi;
           if :: !turn -> begin_turn() :: else fi;
           gather()
        fi
     :: ph == ANALYSING && awaitwords ->
        if
        :: real -> words = 1; nutt++ :: else
        fi;
        if
        :: npend == 0 && words -> awaitwords = 0; unsent = 1
        :: npend == 0 && !words -> end_turn(8); ph = LISTENING
        :: else
        fi
     :: (processing && !(ph == ANALYSING && awaitwords) && !(ph == GENERATING && ap != A_NONE && (class == C_YES || class == C_NO))) || (ph == SPEAKING && ap == A_NONE) || (ph == INTERRUPTED && !doubt && ap == A_NONE) ->
        if
        :: class == C_EMPTY || class == C_BACKCHANNEL -> skip
        :: doubted -> skip
        :: class == C_PAUSE -> if :: ph != INTERRUPTED && counts -> upause = 1 :: else -> skip fi
        :: class == C_CONTINUE && (lineup || upause) -> upause = 0
        :: class == C_STOP ->
           if
           :: processing -> cancel(); flush(); end_turn(8); queue = 0; ph = LISTENING
           :: ph == SPEAKING && prof != NEVER -> cut(); ph = INTERRUPTED
           :: else
           fi
        :: else ->
           if
           :: ph == SPEAKING && prof == BYWORDS -> cut(); ph = INTERRUPTED; later()
           :: man == 2 && !ucm[U_(ea)] && class != C_SEND -> drafts++
           :: else -> later()
           fi
        fi
     :: else -> skip
     fi
  fi
}
inline unheard() { /* recognition failed, or its words do not come */
  look();
  if
  :: ap != A_NONE && ph == LISTENING && !doubt && ap == A_LISTENING && !lineup -> if :: asked < 2 -> ask() :: else fi
  :: ap == A_ASKING && ph == LISTENING && !doubt && !lineup -> if :: asked < 2 -> ask() :: else -> ap = A_LISTENING fi
  :: doubt && ph == INTERRUPTED && npend == 0 -> ph = SPEAKING; forget_doubt()
  :: ph == LISTENING && ap == A_NONE && !doubt && turn && !words && !expl && npend == 0 -> explain()
  :: ph == ANALYSING && awaitwords && npend == 0 -> awaitwords = 0; if :: words -> unsent = 1 :: else -> ph = LISTENING; explain() fi
  :: else
  fi
}
inline text() {
  look();
  if
  :: !eb || ph == FAULTED || ph == TERMINATING -> xrefused = 1
  :: eb && (ph == IDLE || ph == PREPARING) && queue >= maxqueue -> xrefused = 1
  :: eb && ph == IDLE && queue < maxqueue -> starting = 1; later()
  :: eb && ph == PREPARING && queue < maxqueue -> later()
  :: eb && (ph == LISTENING || (ph == INTERRUPTED && doubt)) ->
     if
     :: ap != A_NONE -> cancel(); flush(); end_turn(8); begin_turn()
     :: ap == A_NONE && doubt -> cut(); begin_turn()
     :: ap == A_NONE && expl && !doubt -> flush(); end_turn(4); begin_turn()
     :: ap == A_NONE && !expl && !doubt && !turn -> begin_turn()
     :: else
     fi;
     ph = LISTENING; message()
  :: eb && ph == SPEAKING && ap != A_NONE -> cancel(); flush(); end_turn(8); ph = LISTENING; later()
  :: eb && connected && ph != LISTENING && !(ph == INTERRUPTED && doubt) && !(ph == SPEAKING && ap != A_NONE) && queue >= maxqueue -> xrefused = 1
  :: else -> later()
  fi
}
inline by_hand() { i0 = 0; do :: i0 < U -> if :: ust[i0] != NONE -> ust[i0] = AWAITED; ucm[i0] = 1 :: else fi; i0++ :: else -> break od; i0 = 0 }
inline commit() {
  look();
  if
  :: connected && ph == LISTENING && ap != A_NONE && npend == 0 && drafts > 0 ->
     cancel(); flush(); end_turn(8);
     if :: queue > 0 -> queue = queue + drafts; drafts = 0; ph = LISTENING :: else -> begin_turn(); nutt--; message() fi
  :: connected && ph == LISTENING && ap == A_NONE && (words || npend > 0) ->
     if :: doubt -> cut(); begin_turn() :: else fi;
     by_hand();
     ph = ANALYSING;
     if :: npend > 0 -> awaitwords = 1 :: else -> unsent = 1 fi
  :: connected && (ph != LISTENING || ap != A_NONE) && talking -> by_hand()
  :: else -> xrefused = 1
  fi
}
#define able (retry && (eb == 0 || eb == rstage) && connected)
inline retry_() {
  look();
  if
  :: able && ph == SPEAKING && expl -> flush(); end_turn(4); ph = LISTENING /* and once more */
  :: able && ph == LISTENING && !doubt && ap == A_NONE && (!words || expl) -> /* words that wait to be sent go first */
     if :: expl -> flush(); end_turn(4) :: else fi;
     if
     :: queue > 0 -> retry = 0; waits(rutt)
     :: queue == 0 && rstage == 4 && ea != 0 && free ->
        if :: !turn -> begin_turn() :: else fi;
        wipe(); calls[0] = ea; destr[0] = rdestr; allow[0] = rallow; ncall = 1; ph = GENERATING; req++; round = 0; nutt = rutt; rst = R_ENDED; retry = 0; next_call()
     :: else ->
        if :: !turn -> begin_turn() :: else fi;
        nosearch = (rstage == 2 || rstage == 3); retry = 0; message(); nutt = rutt
     fi
  :: else -> xrefused = 1
  fi
}
inline read_aloud() {
  look();
  if
  :: ph == LISTENING && !turn && !doubt && npend == 0 && !lineup -> begin_turn(); piece(READ)
  :: else -> xrefused = 1
  fi
}
inline interrupt() {
  look();
  if
  :: ph == SPEAKING || (ph == INTERRUPTED && doubt) -> 
     cut(); queue = 0; if :: hold -> ph = LISTENING :: else -> ph = INTERRUPTED fi
  :: ph == INTERRUPTED && !doubt && ap != A_NONE -> cancel(); flush(); end_turn(16)
  :: processing -> cancel(); flush(); end_turn(8); queue = 0; ph = LISTENING
  :: ph == LISTENING ->
     if
     :: ap != A_NONE -> cancel(); flush(); end_turn(8)
     :: doubt -> cut()
     :: expl -> flush(); end_turn(4)
     :: else -> end_turn(8)
     fi;
     queue = 0
  :: ph == INTERRUPTED && !doubt && ap == A_NONE -> skip
  :: else -> xrefused = 1
  fi
}
/* what was said is kept over a lost connection, and heard again over the next one */
#define kept (ev == CONN_LOST && ec)
inline hold_(r) {
  if
  :: alive || (r == H_USER && ph == FAULTED) -> 
     look();
     hold = hold | r;
     if :: ph == INTERRUPTED && !doubt -> ph = LISTENING :: else fi;
     if :: ph == INTERRUPTED && doubt -> ph = LISTENING :: else fi;
     lost = 0;
     i0 = 0; do :: i0 < U -> if :: ust[i0] == VOICE || ust[i0] == SILENT || (ust[i0] == AWAITED && r == H_CONNECTION) -> ust[i0] = NONE; lost = 1 :: else fi; i0++ :: else -> break od; i0 = 0;
     look();
     if
     :: lost && kept && doubt && ap == A_NONE -> cut(); ph = LISTENING /* nothing could interrupt the rest again in time */
     :: lost && npend == 0 && ph == LISTENING && turn && !words && !expl && ap == A_NONE && !doubt && !lineup -> if :: kept -> end_turn(8) :: else -> explain() fi
     :: lost && npend == 0 && ph == ANALYSING && awaitwords -> awaitwords = 0; if :: words -> unsent = 1 :: else -> ph = LISTENING; if :: kept -> end_turn(8) :: else -> explain() fi fi
     :: else
     fi;
     lost = 0
  :: else -> stale = 1
  fi
}
inline release(r) {
  hold = hold & ~r;
  if :: ph == PREPARING -> prepared() :: else fi
}

#define liveround (ea == req && eb == round)
#define live (ea == req && eb == round && rst != R_NONE)
inline sign() {
  if :: ph == WAITING || (ph == ANALYSING && rst != R_NONE) -> ph = GENERATING :: else fi;
  if :: rst == R_SENT -> rst = R_STREAM :: else fi
}
inline done() {
  if
  :: ec == 2 || ec == 0 || ec == 1 ->
     if
     :: dyc != 0 && ea == dyc && eb == dyr && !(live && streaming) -> dyc = 0
     :: live && streaming ->
        if
        :: ec != 0 -> rstage = (rst == R_SENT -> 2 : 3); failed()
        :: else ->
           sign(); rst = R_ENDED;
           if
           :: ncall > 0 -> next_call()
           :: ncall == 0 && !lineup && !said && round == 0 -> rstage = 3; failed()
           :: ncall == 0 && !lineup && (said || round > 0) -> kind = ANSWER; line_over()
           :: else
           fi
        fi
     :: else -> stale = 1
     fi
  fi
}

inline event() {
  if
  :: ev == USER_START -> d_step { skip; start_(); skip }
  :: ev == USER_STOP -> if :: ph == IDLE && !starting -> xrefused = 1 :: ph == TERMINATING -> xrefused = 1 :: else -> d_step { skip; terminate(); skip } fi
  :: ev == USER_INTERRUPT -> d_step { skip; interrupt(); skip }
  :: ev == USER_COMMIT -> d_step { skip; commit(); skip }
  :: ev == USER_TEXT -> d_step { skip; text(); skip }
  :: ev == USER_PLAYBACK ->
     if
     :: connected && (lineup || rst != R_NONE) -> upause = ea
     :: else -> xrefused = 1
     fi
  :: ev == USER_APPROVE ->
     if
     :: ap != A_NONE && ea == calls[0] -> if :: eb -> d_step { skip; approve(); skip } :: else -> d_step { skip; reject(); skip } fi
     :: else -> xrefused = 1
     fi
  :: ev == SUSPEND -> ea = ea & ~(H_CONNECTION | H_DEVICE); if :: ea == 0 -> xrefused = 1 :: else -> d_step { hold_(ea) } fi
  :: ev == RESUME -> ea = ea & ~(H_CONNECTION | H_DEVICE); release(ea)
  :: ev == USER_RETRY -> d_step { skip; retry_(); skip }
  :: ev == USER_SPEAK -> d_step { skip; read_aloud(); skip }
  :: ev == USER_MODEL -> if :: loading -> skip :: else -> wanted = 1 fi
  :: ev == MODEL_READY && eb -> loading = 0
  :: ev == MODEL_FAILED && eb -> loading = 0; mfail = 1; if :: ph == ANALYSING && unsent -> rstage = 2; d_step { skip; failed(); skip } :: else fi
  :: ev == SESSION_RENEWAL && eb -> d_step { skip; hold_(H_RENEWAL); skip }
  :: ev == SESSION_RENEWED && eb -> d_step { skip; release(H_RENEWAL); skip }
  :: ev == DEVICE_LOST && eb -> d_step { skip; hold_(H_DEVICE); skip }
  :: ev == DEVICE_RESTORED && eb -> d_step { skip; release(H_DEVICE); skip }
  :: ev == CONN_LOST && eb -> if :: alive && ph != PREPARING -> hold_(H_CONNECTION); conn = 0 :: alive && ph == PREPARING -> d_step { skip; fault(); skip } :: else fi
  :: ev == CONN_READY && eb ->
     if :: alive -> conn = 1; if :: (hold & H_CONNECTION) || late -> again() :: else fi; if :: late -> late = 0; release(H_RENEWAL) :: else fi; release(H_CONNECTION); prepared() :: else fi
  :: ev == CONFIGURE -> profile = ea & 3; turns = ea >> 2; maxqueue = eb; tools = ec & 1; maxrounds = ec >> 1
  :: ev == SESSION_READY && eb -> if :: starting -> ses = 1; prepared() :: else fi
  :: ev == AUDIO_PRIMED && eb -> if :: starting -> aud = 1; prepared() :: else fi
  :: ev == AUDIO_READY && eb -> cap = 1; prepared()
  :: (ev == SESSION_FAILED || ev == AUDIO_FAILED || (ev == CONN_FAILED && (!ec || hold & (H_CONNECTION | H_RENEWAL)))) && eb -> if :: starting || alive -> d_step { skip; fault(); skip } :: else fi
  :: ev == FATAL -> if :: ph == FAULTED -> d_step { skip; terminate(); skip } :: else fi
  :: ev == RESET -> ph = IDLE; hold = 0
  :: ev == VAD_START -> d_step { skip; onset(); skip }
  :: ev == VAD_PAUSE -> d_step { skip; fell_silent(0); skip }
  :: ev == VAD_END -> d_step { skip; fell_silent(1); skip }
  :: ev == VAD_RESUME -> d_step { skip; went_on(); skip }
  :: ev == STT_PARTIAL -> d_step { skip; partial(); skip }
  :: ev == STT_FINAL -> d_step { skip; final(); skip }
  :: ev == STT_FAILED -> if :: eb && ust[U_(ea)] != NONE -> ust[U_(ea)] = NONE; d_step { skip; unheard(); skip } :: else -> stale = 1 fi
  :: ev == TOOLS_FOUND ->
     if
     :: dys != 0 && ea == dys && eb == dyr && !(live && rst == R_SEARCH) -> dys = 0
     :: live && rst == R_SEARCH -> if :: ec == 0 -> rst = R_SENT; xsend = 1 :: else -> rstage = 1; d_step { skip; failed(); skip } fi
     :: else -> stale = 1
     fi
  :: ev == COPILOT_REQUEST -> if :: live && rst == R_SENT && ph == ANALYSING -> ph = WAITING :: else -> stale = 1 fi
  :: ev == COPILOT_DELTA -> if :: live && streaming -> sign() :: else -> stale = 1 fi
  :: ev == COPILOT_SEGMENT -> if :: live && streaming && ec > chars -> sign(); chars = ec; said = 1; piece(ANSWER) :: else -> stale = 1 fi
  :: ev == COPILOT_TOOLCALL ->
     if
     :: live && streaming -> sign();
        if
        :: ncall < MAXC - 1 -> calls[ncall] = ec >> 2; destr[ncall] = ec & 1; allow[ncall] = (ec >> 1) & 1; ncall++
        :: else -> xtool = xtool | 8
        fi
     :: else -> stale = 1
     fi
  :: ev == COPILOT_DONE -> d_step { skip; done(); skip }
  :: ev == TOOL_DONE ->
     if
     :: runcall != 0 && ea == runcall -> runcall = 0; if :: ec == 0 -> d_step { skip; next_call(); skip } :: else -> rstage = 4; d_step { skip; failed(); skip } fi
     :: dyT != 0 && ea == dyT -> dyT = 0
     :: else -> stale = 1
     fi
  :: ev == TTS_BUFFERED -> if :: eb == gen && ea > buf && ea <= nseq -> buf = ea :: else -> stale = 1 fi
  :: ev == TTS_PLAYED -> if :: eb == gen && ea > hrd && ea <= spoken -> hrd = ea; if :: buf < ea -> buf = ea :: else fi :: else -> stale = 1 fi
  :: ev == TTS_DRAINED ->
     if
     :: eb == gen && ea > drn && ea <= spoken ->
        drn = ea; buf = ea; if :: hrd < ea -> hrd = ea :: else fi;
        if
        :: drn == nseq -> d_step { skip; line_over(); skip }
        :: else -> if :: ph == SPEAKING || doubt -> ph = GENERATING; forget_doubt() :: else fi
        fi
     :: else -> stale = 1
     fi
  :: ev == TTS_FLUSHED -> if :: ph == INTERRUPTED && !doubt && !hold && eb == gen - 1 -> ph = LISTENING :: else fi
  :: ev == TTS_FAILED ->
     if
     :: eb == gen && lineup && ea > drn && ea <= spoken ->
        if
        :: ap == A_ASKING -> d_step { skip; flush(); skip }; ap = A_LISTENING; ph = LISTENING
        :: kind == NOTICE -> d_step { skip; flush(); skip }; end_turn(4); ph = LISTENING
        :: else -> d_step { skip; cancel(); skip }; d_step { skip; flush(); skip }; end_turn(4); ph = LISTENING
        fi
     :: else -> stale = 1
     fi
  :: ev == TIMER ->
     if
     :: !eb -> stale = 1
     :: else ->
        if
        :: ea == T_CONFIRM -> if :: ph == INTERRUPTED && doubt -> ph = LISTENING :: else fi
        :: ea == T_INTERRUPT -> if :: ph == INTERRUPTED && !doubt -> ph = LISTENING :: else fi
        :: ea == T_START || ea == T_PREPARE -> d_step { skip; fault(); skip }
        :: ea == T_FAULT -> starting = 1
        :: ea == T_SUSPEND -> d_step { skip; fault(); skip }
        :: ea == T_APPROVAL -> if :: asked < 2 -> ask() :: else -> d_step { skip; reject(); skip } fi
        :: ea == T_RESPONSE || ea == T_STALL || ea == T_SEARCH -> 
           xcancel++; dyr = round;
           if
           :: rst == R_SEARCH -> dys = req; rstage = 1
           :: else -> dyc = req; rstage = (rst == R_SENT -> 2 : 3)
           fi;
           d_step { skip; failed(); skip }
        :: ea == T_TOOL -> xtool = xtool | 2; runcall = 0; rstage = 4; d_step { skip; failed(); skip }
        :: ea == T_MODEL -> loading = 0; mfail = 1; if :: ph == ANALYSING && unsent -> rstage = 2; d_step { skip; failed(); skip } :: else fi
        :: ea == T_RENEWAL -> if :: alive -> late = 1; hold_(H_RENEWAL) :: else fi
        :: ea == T_FINAL -> i0 = 0; do :: i0 < U -> if :: ust[i0] == AWAITED -> ust[i0] = NONE :: else fi; i0++ :: else -> break od; i0 = 0; d_step { skip; unheard(); skip }
        :: ea == T_SPEECH ->
           if
           :: ap == A_ASKING -> d_step { skip; flush(); skip }; ap = A_LISTENING; ph = LISTENING
           :: kind == NOTICE -> d_step { skip; flush(); skip }; end_turn(4); ph = LISTENING
           :: else -> d_step { skip; cancel(); skip }; d_step { skip; flush(); skip }; end_turn(4); ph = LISTENING
           fi
        :: ea == T_CANCEL -> dys = 0; dyc = 0; dyT = 0
        :: ea == T_UTTERANCE -> i0 = 0; do :: i0 < U -> if :: ust[i0] == VOICE || ust[i0] == SILENT -> ust[i0] = AWAITED :: else fi; i0++ :: else -> break od; i0 = 0
        :: ea == T_PAUSE -> i0 = 0; do :: i0 < U -> if :: ust[i0] == SILENT -> ust[i0] = AWAITED :: else fi; i0++ :: else -> break od; i0 = 0
        :: ea == T_TERMINATE -> ph = IDLE; hold = 0
        :: else -> skip
        fi
     fi
  :: ev == QUEUE_NEXT -> 
     look();
     if :: ph == LISTENING && queue > 0 && !hold && npend == 0 -> queue--; begin_turn(); message() :: else fi
  :: else -> skip
  fi
}
#define wire (hold && alive -> SUSPENDED : ph)
#define sounding (ph == SPEAKING && ready && !upause && !hold)
#define mic (alive && !hold)

#define deadline(t, waits) if :: (waits) -> need = need | (1 << t) :: else fi
inline deadlines() {
  need = 0;
  if
  :: connected && !hold ->
     deadline(T_UTTERANCE, talking);
     deadline(T_FINAL, pending);
     deadline(T_RESPONSE, (rst == R_SENT && round == 0) || (ph == ANALYSING && unsent && !loading && dyT == 0 && !(atools && !nosearch)));
     deadline(T_STALL, (rst == R_STREAM) || (rst == R_SENT && round > 0));
     silent = 0; i0 = 0; do :: i0 < U -> if :: ust[i0] == SILENT -> silent = 1 :: else fi; i0++ :: else -> break od; i0 = 0;
     deadline(T_PAUSE, silent && man != 2);
     deadline(T_SEARCH, rst == R_SEARCH);
     deadline(T_INTERRUPT, ph == INTERRUPTED && !doubt);
     deadline(T_CONFIRM, ph == INTERRUPTED && doubt);
     deadline(T_APPROVAL, ap == A_LISTENING && ph == LISTENING && quiet && !lineup);
     deadline(T_SPEECH, lineup && ((ph == SPEAKING && !upause) || ((ph == GENERATING || ph == LISTENING) && !ready)))
  :: else
  fi;
  if
  :: ph != IDLE && !(hold && alive) ->
     deadline(T_CANCEL, dys != 0 || dyc != 0);
     deadline(T_TOOL, runcall != 0 || dyT != 0)
  :: else
  fi;
  deadline(T_START, starting);
  deadline(T_PREPARE, ph == PREPARING && !hold);
  deadline(T_TERMINATE, ph == TERMINATING);
  deadline(T_MODEL, loading && !(hold && alive));
  post = (ph == LISTENING && queue > 0 && quiet && !hold && !turn && !lineup);
  if :: alive -> deadline(T_SUSPEND, hold & ~H_USER) :: else fi
}

#ifdef TRACE
#include "trace.pml"
#else
#include "world.pml"
#endif
