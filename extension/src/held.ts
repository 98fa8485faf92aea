/** Key of the workspace state that says where the transcript is held while the window is loaded again. */
export const HELD = 'agentvoice.transcriptHeld';
