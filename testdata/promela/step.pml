/* What each event does, and what can be seen of it. */
#define U_(x) ((x) % U)

inline start_() {
  if
  :: ph == IDLE && !starting -> starting = 1
  :: ph == FAULTED && !starting -> starting = 1; hold = 0
  :: ph == FAULTED && starting -> skip
  :: ph == TERMINATING -> astart = 1
  :: else -> xrefused = 1
  fi
}
inline prepared() {
  if
  :: (ph == IDLE || ph == FAULTED) && ses && aud -> ph = PREPARING; starting = 0
  :: ph == PREPARING && cap && conn -> ph = LISTENING
  :: else
  fi
}

/* what is open when an utterance begins */
inline stamp() {
  if
  :: asking_ && sounds && lastpiece -> over = O_UNHEARD
  :: asking_ && qheard && !sounds -> over = O_QUESTION
  :: ap == A_LISTENING && !qheard && !sounds -> over = O_UNHEARD /* it broke off */
  :: !asking_ && sounds && lastpiece && prose && !underway && ap == A_NONE && !expl -> over = O_PROSE
  :: (sounds && !(asking_ && lastpiece) && !(lastpiece && prose && !underway && ap == A_NONE && !expl)) || (ph == INTERRUPTED && !sounds && !(asking_ && qheard) && ap != A_LISTENING) -> over = O_ANSWER
  :: else ->
     if
     :: inwriting -> if :: prose -> over = O_PROSE :: else -> over = O_ANSWER fi
     :: !inwriting && (underway || ap != A_NONE || uttered || npend > 0) -> over = O_REQUEST
     :: else -> if :: prose -> over = O_PROSE :: else -> over = O_NOTHING fi
     fi
  fi
}
inline onset() {
  look();
  if
  :: !eb || deaf || !connected || ust[U_(ea)] != NONE -> stale = 1
  :: else ->
     stamp();
     ust[U_(ea)] = VOICE; uov[U_(ea)] = over; ucm[U_(ea)] = 0; udr[U_(ea)] = 0;
     nonset++; uat[U_(ea)] = nonset;
     if
     :: ph == SPEAKING ->
        if
        :: PROF == CONFIRMED || upause || voiceless || (ap != A_NONE && PROF != NEVER) -> ph = INTERRUPTED; doubt = 1; meant = 0
        :: else
        fi
     :: ph == LISTENING && !doubt && ap == A_ASKING -> flush(); ap = A_LISTENING /* it is not said over the user */
     :: ph == LISTENING && !doubt && ap != A_ASKING -> stop_speech() /* what was not begun to be said */
     :: else
     fi
  fi
}

/* the first of those whose words are awaited, U if there is none */
inline first_awaited() {
  first_ = U; i0 = 0;
  do
  :: i0 < U ->
     if
     :: ust[i0] == AWAITED -> if :: first_ == U -> first_ = i0 :: first_ != U && uat[i0] < uat[first_] -> first_ = i0 :: else fi
     :: else
     fi;
     i0++
  :: else -> break
  od;
  i0 = 0
}
/* a voice is silent, for now or for good */
inline fell_silent(isover) {
  look();
  if
  :: !eb || ust[U_(ea)] == NONE || ust[U_(ea)] == AWAITED || (!isover && ust[U_(ea)] == SILENT) -> stale = 1
  :: else ->
     if :: isover -> ust[U_(ea)] = AWAITED; look() :: else -> ust[U_(ea)] = SILENT fi;
     if
     :: doubt && ec && !meant && npend == 1 && (ph == INTERRUPTED || ph == LISTENING) ->
        if :: ready -> ph = SPEAKING :: else -> skip fi; 
        forget_doubt()
     :: doubt && ph == INTERRUPTED && isover && !(ec && !meant && npend == 1) -> ph = LISTENING
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
     :: ph == SPEAKING && !held && (PROF == CONFIRMED || upause || voiceless || (ap != A_NONE && PROF != NEVER)) -> ph = INTERRUPTED; doubt = 1; meant = 0
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
     :: ph == SPEAKING && PROF == BYWORDS && ap == A_NONE -> ph = INTERRUPTED; doubt = 1; meant = 1
     :: else
     fi
  fi
}
#define class (ec & 15)
#define named ((ec & 16) != 0)
#define doubted ((ec & 32) != 0)
#define wordless ((ec & 64) != 0)

/* What words mean, by what was open when they began. Consent is never an absence: a yes needs a
   question that was heard, and words that are certain and complete. */
inline meaning() {
  means = M_NOTHING;
  if
  :: dropped || class == C_EMPTY || class == C_BACKCHANNEL -> skip
  :: !dropped && class == C_STOP -> means = M_STOP
  :: !dropped && class == C_SEND -> means = M_SEND
  :: !dropped && class == C_PAUSE -> if :: over >= O_REQUEST -> means = M_PAUSE :: else fi
  :: !dropped && class == C_ATTENTION ->
     if :: over == O_ANSWER -> means = M_STOP :: over == O_UNHEARD || over == O_QUESTION -> means = M_PAUSE :: else fi
  :: !dropped && (class == C_CONTENT || class == C_ASSENT || class == C_UNCLEAR) ->
     if
     :: class == C_ASSENT && !doubted && over == O_QUESTION -> means = M_ASSENT
     :: class == C_ASSENT && over == O_DECIDED -> skip
     :: class != C_CONTENT && (over == O_UNHEARD || over == O_QUESTION) && !(class == C_ASSENT && !doubted && over == O_QUESTION) -> means = M_UNCLEAR
     :: (class == C_CONTENT || (over != O_UNHEARD && over != O_QUESTION)) && !(class == C_ASSENT && over == O_DECIDED) && !doubted -> means = M_MESSAGE
     :: (class == C_CONTENT || (over != O_UNHEARD && over != O_QUESTION)) && !(class == C_ASSENT && over == O_DECIDED) && doubted && over != O_ANSWER -> means = M_DOUBT
     :: else
     fi
  :: !dropped && (class == C_YES || class == C_NO) && doubted ->
     if :: over == O_PROSE -> means = M_DOUBT :: over == O_UNHEARD || over == O_QUESTION -> means = M_UNCLEAR :: else fi
  :: !dropped && class == C_YES && !doubted ->
     if
     :: over == O_NOTHING || over == O_PROSE -> means = M_MESSAGE
     :: over == O_UNHEARD -> means = M_UNCLEAR
     :: over == O_QUESTION -> means = M_YES
     :: else
     fi
  :: !dropped && class == C_NO && !doubted ->
     if
     :: over == O_NOTHING || over == O_PROSE || over == O_ANSWER -> means = M_MESSAGE
     :: over == O_REQUEST -> means = M_UNCLEAR
     :: over == O_UNHEARD || over == O_QUESTION -> means = M_NO
     :: else
     fi
  :: !dropped && class == C_CONTINUE ->
     if
     :: over == O_NOTHING || over == O_PROSE -> means = (doubted -> M_DOUBT : M_MESSAGE)
     :: over == O_UNHEARD -> means = M_UNCLEAR
     :: over == O_QUESTION -> means = (doubted -> M_UNCLEAR : M_ASSENT)
     :: else -> means = M_CONTINUE
     fi
  :: !dropped && class == C_AGREE ->
     if
     :: over == O_PROSE -> means = (doubted -> M_DOUBT : M_MESSAGE)
     :: over == O_QUESTION -> means = (doubted -> M_UNCLEAR : M_ASSENT)
     :: else
     fi
  fi
}
/* words that no pause ends the turn of */
#define drafting (MAN == 2 && !byhand && class != C_SEND)
inline for_assistant() {
  if
  :: wordless -> trig = F_NOTHING
  :: !wordless && drafting && (ap != A_NONE || (ph != SPEAKING && ph != INTERRUPTED)) -> trig = F_DRAFT
  :: else -> trig = F_CONTENT
  fi
}
inline follows() {
  trig = F_NOTHING;
  if
  :: means == M_STOP -> trig = F_STOP
  :: means == M_PAUSE -> if :: asking_ || playback -> trig = F_PAUSE :: else fi
  :: (means == M_YES || means == M_ASSENT || means == M_NO || means == M_UNCLEAR) && asking_ ->
     if
     :: means == M_NO -> trig = F_NO
     :: means == M_UNCLEAR || (means == M_ASSENT && destr[0]) -> trig = F_UNCLEAR
     :: else -> trig = F_YES
     fi
  :: means == M_UNCLEAR && !asking_ -> for_assistant()
  :: means == M_DOUBT -> trig = F_DOUBT
  :: means == M_CONTINUE && playback -> trig = F_CONTINUE
  :: means == M_CONTINUE && !playback -> for_assistant()
  :: means == M_SEND && wordless -> trig = F_SEND
  :: means == M_MESSAGE || (means == M_SEND && !wordless) -> for_assistant()
  :: else
  fi
}
/* it waits until the assistant is through, or until the user sends it */
inline enqueue_final() {
  if :: class == C_SEND -> hand_in() :: else fi;
  if :: drafting -> draft() :: else -> later() fi
}
/* the user stops listening to the question, and may still answer it */
inline close_question() { flush(); ph = LISTENING }
inline hold_question() {
  if :: sounds && lastpiece && !destr[0] -> qheard = 1 :: else fi;
  ap = A_LISTENING; close_question()
}
inline drop_call() { cancel(); flush(); end_turn(8) }
inline replace_by_drafts() {
  drop_call();
  if
  :: ph != LISTENING || queue > 0 -> hand_in(); ph = LISTENING
  :: else -> listen(); unsent = 1; ph = ANALYSING
  fi
}

/* what the words are to a question about a call; on: they are not for it alone */
inline to_question() {
  on = 0;
  if
  :: trig == F_YES && ap == A_DECIDING -> skip
  :: trig == F_YES && ap != A_DECIDING ->
     if
     :: !destr[0] || named -> ap = A_DECIDING; close_question()
     :: destr[0] && !named && again_ -> ask()
     :: else
     fi
  :: trig == F_UNCLEAR -> if :: again_ -> ask() :: !again_ && ap == A_DECIDING -> ap = A_LISTENING :: else fi
  :: trig == F_PAUSE && asking_ -> hold_question()
  :: trig == F_NO -> flush(); reject()
  :: trig == F_STOP -> if :: ph != SPEAKING || PROF != NEVER -> cancel() :: else fi; on = 1
  :: trig == F_DRAFT -> draft(); xlost = 1
  :: trig == F_SEND && drafts > 0 -> replace_by_drafts()
  :: else -> on = 1
  fi
}
inline to_question_content() {
  on = 0;
  if
  :: (over < O_ANSWER || over == O_DECIDED) -> enqueue_final()
  :: over == O_UNHEARD && ap == A_LISTENING && !qheard && again_ -> enqueue_final(); ask()
  :: !(over < O_ANSWER || over == O_DECIDED) && !(over == O_UNHEARD && ap == A_LISTENING && !qheard && again_) ->
     if
     :: ph == SPEAKING && PROF == NEVER -> enqueue_final()
     :: ph == LISTENING -> drop_call(); forget_doubt(); on = 1
     :: else -> drop_call(); forget_doubt(); ph = LISTENING; enqueue_final()
     fi
  fi
}
#define goes_on (over == O_REQUEST && queue == 0 && man != 2 && !aturn && !expl && !acted && uttered && ap == A_NONE)
inline content() {
  if
  :: ph == LISTENING -> stop_speech(); if :: !turn -> begin_turn() :: else fi; message()
  :: ph == ANALYSING && awaitwords -> uttered = 1
  :: processing && !(ph == ANALYSING && awaitwords) && goes_on -> cancel(); flush(); message()
  :: ph == SPEAKING && PROF == BYWORDS && ap == A_NONE -> cut(); ph = INTERRUPTED; enqueue_final()
  :: ph == INTERRUPTED && doubt -> cut(); ph = LISTENING; enqueue_final()
  :: else -> enqueue_final()
  fi
}
inline to_conversation() {
  if
  :: trig == F_DRAFT ->
     if
     :: ph == LISTENING ->
        stop_speech();
        if
        :: queue > 0 -> draft(); dismiss()
        :: else -> if :: !turn -> begin_turn() :: else fi; words = 1; uttered = 1
        fi
     :: else -> draft()
     fi
  :: trig == F_SEND ->
     if
     :: ph == LISTENING && words -> unsent = 1; ph = ANALYSING
     :: ph == LISTENING && !words -> dismiss()
     :: else -> hand_in()
     fi
  :: trig == F_STOP ->
     if
     :: ph == LISTENING -> stop_by_word(); dismiss()
     :: processing -> queue = 0; drafts = 0; cancel(); flush(); end_turn(8); ph = LISTENING
     :: ph == SPEAKING && PROF != NEVER -> queue = 0; drafts = 0; cut(); ph = INTERRUPTED
     :: ph == INTERRUPTED && doubt -> queue = 0; drafts = 0; cut(); ph = LISTENING
     :: else
     fi
  :: trig == F_NOTHING -> if :: ph == LISTENING -> dismiss() :: else fi
  :: trig == F_DOUBT -> words_lost()
  :: trig == F_PAUSE -> upause = 1
  :: trig == F_CONTINUE -> upause = 0
  :: else
  fi
}
inline stop_by_word() {
  queue = 0; drafts = 0; stop_speech();
  if :: uttered -> end_turn(8) :: else fi
}
inline final() {
  look();
  if
  :: !eb || !connected || ust[U_(ea)] == NONE -> stale = 1; on = 0
  :: else ->
     over = uov[U_(ea)]; dropped = udr[U_(ea)]; byhand = ucm[U_(ea)];
     ust[U_(ea)] = NONE; look();
     meaning(); follows();
     on = 1
  fi
}
inline unheard() { /* recognition failed */
  look();
  if
  :: ap != A_NONE && again_ -> xlost = 1; ask()
  :: else -> words_lost()
  fi
}
inline pause_voice() {
  if
  :: asking_ -> hold_question()
  :: !asking_ && connected && playback -> upause = 1
  :: else -> xrefused = 1
  fi
}
inline continue_voice() {
  if
  :: ap == A_LISTENING && again_ -> ask()
  :: !(ap == A_LISTENING && again_) && connected && playback -> upause = 0
  :: else -> xrefused = 1
  fi
}
inline text() {
  look();
  if
  :: !eb || ph == FAULTED -> xrefused = 1
  :: eb && ph == TERMINATING -> if :: atexts < maxqueue -> atexts++ :: else -> xrefused = 1 fi
  :: eb && ph == IDLE -> starting = 1; later()
  :: eb && (connected || ph == PREPARING) ->
     on = 1;
     if
     :: ap != A_NONE ->
        drop_call(); forget_doubt();
        if :: ph != LISTENING -> later(); ph = LISTENING; on = 0 :: else fi
     :: else
     fi;
     if
     :: on && ph == LISTENING -> stop_speech(); if :: !turn -> begin_turn() :: else fi; message()
     :: on && ph == SPEAKING && upause -> cut(); ph = INTERRUPTED; later()
     :: on && ph != LISTENING && !(ph == SPEAKING && upause) -> later()
     :: else
     fi
  fi
}
inline by_hand() { i0 = 0; do :: i0 < U -> if :: ust[i0] != NONE -> ust[i0] = AWAITED; ucm[i0] = 1 :: else fi; i0++ :: else -> break od; i0 = 0 }
inline commit() {
  look();
  if
  :: ap != A_NONE && npend > 0 -> by_hand()
  :: ap != A_NONE && npend == 0 && drafts > 0 -> replace_by_drafts()
  :: ap == A_NONE && ph == LISTENING && npend > 0 ->
     by_hand(); stop_speech(); if :: !turn -> begin_turn() :: else fi;
     ph = ANALYSING; awaitwords = 1
  :: ap == A_NONE && ph == LISTENING && npend == 0 && words -> unsent = 1; ph = ANALYSING
  :: ap == A_NONE && connected && !(ph == LISTENING && (npend > 0 || words)) && (npend > 0 || drafts > 0) -> by_hand(); hand_in()
  :: else -> xrefused = 1
  fi
}
#define able (retry && (eb == 0 || eb == rstage) && connected)
inline retry_() {
  look();
  if
  :: able && ph != LISTENING && expl && lineup && !(ph == INTERRUPTED && !doubt) -> flush(); end_turn(4); ph = LISTENING /* and once more */
  :: able && ph == LISTENING && !doubt && ap == A_NONE && (!words || expl) -> /* words that wait to be sent go first */
     stop_speech();
     if
     :: rstage == 4 && ea != 0 && free ->
        if :: !turn -> begin_turn() :: else fi;
        wipe(); calls[0] = ea; destr[0] = rdestr; allow[0] = rallow; reads[0] = rreads; ncall = 1; ph = GENERATING; req++; round = 0; uttered = 1; prose = 0; rst = R_ENDED; retry = 0; next_call(0)
     :: else ->
        if :: !turn -> begin_turn() :: else fi;
        retry = 0; message(); nosearch = (rstage == 2 || rstage == 3)
     fi
  :: else -> xrefused = 1
  fi
}
inline read_aloud() {
  look();
  if
  :: ph == LISTENING && !turn && !doubt && npend == 0 && !lineup -> begin_turn(); aturn = 1; piece(READ)
  :: else -> xrefused = 1
  fi
}
inline interrupt() {
  look();
  if
  :: connected ->
     i0 = 0; do :: i0 < U -> if :: ust[i0] != NONE -> udr[i0] = 1 :: else fi; i0++ :: else -> break od; i0 = 0;
     if :: ap != A_NONE -> cancel() :: else fi;
     if
     :: ph == SPEAKING || (ph == INTERRUPTED && doubt) -> queue = 0; drafts = 0; cut(); ph = INTERRUPTED
     :: ph == INTERRUPTED && !doubt -> queue = 0; drafts = 0
     :: processing -> queue = 0; drafts = 0; cancel(); flush(); end_turn(8); ph = LISTENING
     :: ph == LISTENING -> stop_by_word()
     fi
  :: else -> xrefused = 1
  fi
}
/* what was said is kept over a lost connection, and heard again over the next one */
#define kept (ev == CONN_LOST && ec)
inline without_words() {
  xlost = 1;
  if
  :: !kept -> words_lost()
  :: kept && ap != A_NONE -> skip
  :: kept && ap == A_NONE && doubt -> cut(); ph = LISTENING /* nothing could interrupt the rest again in time */
  :: else -> dismiss()
  fi
}
inline hold_(r) {
  if
  :: alive || ((r & H_USER) && ph == FAULTED && !starting) ->
     if :: alive -> hold = hold | r :: else -> hold = H_USER fi;
     if :: ph == INTERRUPTED && !doubt && voiceless -> ph = LISTENING :: else fi;
     lost = 0;
     i0 = 0; do :: i0 < U -> if :: deaf && (ust[i0] == VOICE || ust[i0] == SILENT) -> ust[i0] = NONE; lost = 1 :: else fi; i0++ :: else -> break od; i0 = 0;
     if :: lost -> without_words() :: else fi;
     lost = 0;
     i0 = 0; do :: i0 < U -> if :: ust[i0] == AWAITED && r == H_CONNECTION -> ust[i0] = NONE; lost = 1 :: else fi; i0++ :: else -> break od; i0 = 0;
     if :: lost -> without_words() :: else fi;
     lost = 0
  :: else -> stale = 1; if :: ev == SUSPEND -> xrefused = 1 :: else fi
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
  :: true ->
     if
     :: dyc != 0 && ea == dyc && eb == dyr && !(live && streaming) -> dyc = 0
     :: live && streaming ->
        if
        :: (ec & 3) != 0 -> rstage = (rst == R_SENT -> 2 : 3); failed()
        :: else ->
           on = (rst == R_SENT); sign(); rst = R_ENDED;
           if :: ncall == 0 -> prose = (ec & 4) != 0 :: else fi;
           if
           :: ncall > 0 -> next_call(0)
           :: ncall == 0 && !lineup && !said && round == 0 -> rstage = (on -> 2 : 3); failed()
           :: ncall == 0 && !lineup && (said || round > 0) -> kind = ANSWER; line_over()
           :: else
           fi
        fi
     :: else -> stale = 1
     fi
  fi
}

/* an answer that cannot be spoken */
inline broke() { at_stage(); cancel(); flush(); end_turn(4); ph = LISTENING }
inline ended() {
  ph = IDLE; hold = 0; prose = 0; retry = 0; dyc = 0; dys = 0; dyT = 0;
  if :: astart || atexts > 0 -> starting = 1; queue = atexts; astart = 0; atexts = 0 :: else fi
}

/* which device it is about */
#define side (ea == 1 -> H_MICROPHONE : (ea == 2 -> H_SPEAKER : H_DEVICES))
inline event() {
  if
  :: ev == USER_START -> d_step { skip; start_(); skip }
  :: ev == USER_STOP -> if :: ph == IDLE && !starting -> xrefused = 1 :: ph == TERMINATING -> if :: astart || atexts > 0 -> astart = 0; atexts = 0 :: else -> xrefused = 1 fi :: else -> d_step { skip; terminate(); skip } fi
  :: ev == USER_INTERRUPT -> d_step { skip; interrupt(); skip }
  :: ev == USER_COMMIT -> d_step { skip; commit(); skip }
  :: ev == USER_TEXT -> d_step { skip; text(); skip }
  :: ev == USER_PLAYBACK ->
     if :: ea -> d_step { skip; pause_voice(); skip } :: else -> d_step { skip; continue_voice(); skip } fi
  :: ev == USER_APPROVE ->
     if
     :: ap != A_NONE && ea == calls[0] -> if :: eb -> d_step { skip; approve(); skip } :: else -> d_step { skip; reject(); skip } fi
     :: else -> xrefused = 1
     fi
  :: ev == SUSPEND -> ea = ea & ~(H_CONNECTION | H_DEVICES); if :: ea == 0 -> xrefused = 1 :: else -> d_step { hold_(ea) } fi
  :: ev == RESUME ->
     ea = ea & ~(H_CONNECTION | H_DEVICES);
     if :: alive || (ph == FAULTED && !starting && (ea & H_USER)) -> release(ea) :: else -> xrefused = 1 fi
  :: ev == USER_RETRY -> d_step { skip; retry_(); skip }
  :: ev == USER_SPEAK -> d_step { skip; read_aloud(); skip }
  :: ev == USER_MODEL -> if :: loading -> skip :: else -> wanted = 1 fi
  :: ev == MODEL_READY && eb -> loading = 0
  :: ev == MODEL_FAILED && eb -> loading = 0; mfail = 1; if :: ph == ANALYSING && unsent -> rstage = 2; d_step { skip; failed(); skip } :: else fi
  :: ev == SESSION_RENEWAL && eb -> d_step { skip; hold_(H_RENEWAL); skip }
  :: ev == SESSION_RENEWED && eb -> d_step { skip; release(H_RENEWAL); skip }
  :: ev == DEVICE_LOST && eb && !starting -> d_step { skip; hold_(side); skip }
  :: ev == DEVICE_RESTORED && eb -> d_step { skip; release(side); skip }
  :: ev == CONN_LOST && eb -> if :: alive && ph != PREPARING -> hold_(H_CONNECTION); conn = 0 :: alive && ph == PREPARING -> d_step { skip; fault(); skip } :: else fi
  :: ev == CONN_READY && eb ->
     if :: alive -> conn = 1; if :: (hold & H_CONNECTION) || late -> again() :: else fi; if :: late -> late = 0; release(H_RENEWAL) :: else fi; release(H_CONNECTION); prepared() :: else fi
  :: ev == CONFIGURE -> profile = ea & 3; turns = ea >> 2; maxqueue = eb; tools = ec & 1; maxrounds = ec >> 1
  :: ev == SESSION_READY && eb -> if :: starting -> ses = 1; prepared() :: else fi
  :: ev == AUDIO_PRIMED && eb -> if :: starting -> aud = 1; prepared() :: else fi
  :: ev == AUDIO_READY && eb -> cap = 1; prepared()
  :: (ev == SESSION_FAILED || ev == AUDIO_FAILED || (ev == DEVICE_LOST && starting) || (ev == CONN_FAILED && (!ec || hold & (H_CONNECTION | H_RENEWAL)))) && eb -> if :: starting || alive -> d_step { skip; fault(); skip } :: else fi
  :: ev == FATAL -> if :: ph == FAULTED -> d_step { skip; terminate(); skip } :: else fi
  :: ev == RESET -> d_step { skip; ended(); skip }
  :: ev == VAD_START -> d_step { skip; onset(); skip }
  :: ev == VAD_PAUSE -> d_step { skip; fell_silent(0); skip }
  :: ev == VAD_END -> d_step { skip; fell_silent(1); skip }
  :: ev == VAD_RESUME -> d_step { skip; went_on(); skip }
  :: ev == STT_PARTIAL -> d_step { skip; partial(); skip }
  :: ev == STT_FINAL ->
     d_step { skip; final(); skip };
     if :: on && ap != A_NONE -> if :: trig == F_CONTENT -> d_step { skip; to_question_content(); skip } :: else -> d_step { skip; to_question(); skip } fi :: else fi;
     if :: on -> if :: trig == F_CONTENT -> d_step { skip; content(); skip } :: else -> d_step { skip; to_conversation(); skip } fi :: else fi
  :: ev == STT_FAILED -> if :: eb && ust[U_(ea)] != NONE -> ust[U_(ea)] = NONE; d_step { skip; unheard(); skip } :: else -> stale = 1 fi
  :: ev == TOOLS_FOUND ->
     if
     :: dys != 0 && ea == dys && eb == dyr && !(live && rst == R_SEARCH) -> dys = 0
     :: live && rst == R_SEARCH -> if :: ec == 0 -> rst = R_SENT; xsend = 1 :: else -> rstage = 1; d_step { skip; failed(); skip } fi
     :: else -> stale = 1
     fi
  :: ev == COPILOT_REQUEST -> if :: live && rst == R_SENT && ph == ANALYSING -> ph = WAITING :: else -> stale = 1 fi
  :: ev == COPILOT_DELTA -> if :: live && streaming -> sign(); if :: ec -> acted = 1 :: else fi :: else -> stale = 1 fi
  :: ev == COPILOT_SEGMENT -> if :: live && streaming && ec > chars -> sign(); chars = ec; said = 1; piece(ANSWER) :: else -> stale = 1 fi
  :: ev == COPILOT_TOOLCALL ->
     if
     :: live && streaming -> sign();
        if
        :: ncall < MAXC - 1 -> calls[ncall] = ec >> 3; destr[ncall] = ec & 1; allow[ncall] = (ec >> 1) & 1; reads[ncall] = (ec >> 2) & 1; ncall++
        :: else -> xtool = xtool | 8
        fi
     :: else -> stale = 1
     fi
  :: ev == COPILOT_DONE -> d_step { skip; done(); skip }
  :: ev == TOOL_DONE ->
     if
     :: runcall != 0 && ea == runcall -> runcall = 0; if :: ec == 0 -> d_step { skip; next_call(4); skip } :: else -> rstage = 4; d_step { skip; failed(); skip } fi
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
  :: ev == TTS_FLUSHED -> if :: ph == INTERRUPTED && !doubt && eb == gen - 1 -> ph = LISTENING :: else fi
  :: ev == TTS_FAILED ->
     if
     :: eb == gen && lineup && ea > drn && ea <= spoken ->
        if
        :: ap == A_ASKING -> d_step { skip; flush(); skip }; ap = A_LISTENING; ph = LISTENING
        :: kind == NOTICE -> d_step { skip; flush(); skip }; end_turn(4); ph = LISTENING
        :: else -> d_step { skip; broke(); skip }
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
           if
           :: rst == R_SEARCH -> xcancel++; dyr = round; dys = req; rstage = 1
           :: streaming -> xcancel++; dyr = round; dyc = req; rstage = (rst == R_SENT -> 2 : 3)
           :: else -> rstage = 0 /* it was not sent */
           fi;
           d_step { skip; failed(); skip }
        :: ea == T_TOOL -> xtool = xtool | 2; runcall = 0; rstage = 4; d_step { skip; failed(); skip }
        :: ea == T_MODEL -> loading = 0; mfail = 1; if :: ph == ANALYSING && unsent -> rstage = 2; d_step { skip; failed(); skip } :: else fi
        :: ea == T_RENEWAL -> if :: alive -> late = 1; hold_(H_RENEWAL) :: else fi
        :: ea == T_REVOKE -> d_step { skip; approve(); skip }
        :: ea == T_FINAL -> d_step { skip; first_awaited(); if :: first_ < U -> ust[first_] = NONE; words_lost() :: else fi; skip }
        :: ea == T_SPEECH ->
           if
           :: ap == A_ASKING -> d_step { skip; flush(); skip }; ap = A_LISTENING; ph = LISTENING
           :: kind == NOTICE -> d_step { skip; flush(); skip }; end_turn(4); ph = LISTENING
           :: else -> d_step { skip; broke(); skip }
           fi
        :: ea == T_CANCEL -> dys = 0; dyc = 0; dyT = 0
        :: ea == T_UTTERANCE -> i0 = 0; do :: i0 < U -> if :: ust[i0] == VOICE || ust[i0] == SILENT -> ust[i0] = NONE :: else fi; i0++ :: else -> break od; i0 = 0; d_step { skip; words_lost(); skip }
        :: ea == T_PAUSE -> i0 = 0; do :: i0 < U -> if :: ust[i0] == SILENT -> ust[i0] = AWAITED :: else fi; i0++ :: else -> break od; i0 = 0
        :: ea == T_TERMINATE -> d_step { skip; ended(); skip }
        :: else -> skip
        fi
     fi
  :: ev == QUEUE_NEXT -> 
     look();
     if :: ph == LISTENING && queue > 0 && ap == A_NONE -> queue--; d_step { skip; stop_speech(); skip }; if :: !turn -> begin_turn() :: else fi; message() :: else fi
  :: else -> skip
  fi;
  if :: (ev == USER_RETRY || ev == USER_STOP) && ec == 1 -> xrefused = 0 :: else fi /* nobody asked for a reply */
}
#define idling (ph == LISTENING && queue > 0 && !held && !turn)
/* suspended: it is held, or a lost device is all that it waits for */
#define waits_ (held || (ph == SPEAKING && voiceless) || ((ph == LISTENING || ph == PREPARING) && deaf))
#define wire (waits_ && alive -> SUSPENDED : ph)
#define sounding (ph == SPEAKING && ready && !upause && !voiceless)
#define mic (alive && !deaf)

#define deadline(t, waits) if :: (waits) -> need = need | (1 << t) :: else fi
inline deadlines() {
  need = 0;
  if
  :: connected && !held ->
     deadline(T_UTTERANCE, talking);
     deadline(T_FINAL, pending);
     deadline(T_RESPONSE, ph == WAITING || (ph == ANALYSING && !awaitwords && !loading && rst != R_SEARCH && dys == 0 && dyT == 0 && runcall == 0));
     deadline(T_STALL, (rst == R_STREAM) || (rst == R_SENT && round > 0));
     silent = 0; i0 = 0; do :: i0 < U -> if :: ust[i0] == SILENT -> silent = 1 :: else fi; i0++ :: else -> break od; i0 = 0;
     deadline(T_PAUSE, silent && MAN != 2);
     deadline(T_SEARCH, rst == R_SEARCH);
     deadline(T_INTERRUPT, ph == INTERRUPTED && !doubt);
     deadline(T_REVOKE, ap == A_DECIDING && quiet);
     deadline(T_APPROVAL, !deaf && ap != A_NONE && ap != A_DECIDING && ph == LISTENING && quiet && !lineup);
     deadline(T_SPEECH, !voiceless && lineup && ((ph == SPEAKING && !upause) || ((ph == GENERATING || ph == LISTENING) && !ready)))
  :: else
  fi;
  if
  :: ph != IDLE && !(held && alive) ->
     deadline(T_CANCEL, dys != 0 || dyc != 0);
     deadline(T_TOOL, runcall != 0 || dyT != 0)
  :: else
  fi;
  deadline(T_CONFIRM, ph == INTERRUPTED && doubt);
  deadline(T_START, starting);
  deadline(T_PREPARE, ph == PREPARING && !deaf);
  deadline(T_TERMINATE, ph == TERMINATING);
  deadline(T_MODEL, loading && !(held && alive));
  post = (idling && !post0);
  if :: alive -> deadline(T_SUSPEND, hold & ~H_USER) :: else fi
}

#ifdef TRACE
#include "trace.pml"
#else
#include "world.pml"
#endif
