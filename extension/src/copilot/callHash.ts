// What identifies a call of a tool, so that the one that was shown is the one that runs.

import canonicalize from 'canonicalize';
import { createHash } from 'node:crypto';
import { ResponseError } from 'vscode-jsonrpc/node';
import { ERRORS } from '../protocol.gen';

/** The call that should run is not the one that was allowed. */
export class CallChanged extends ResponseError<undefined> {
  constructor() {
    super(ERRORS.callChanged.code, 'the call is not the one that was allowed');
  }
}

/**
 * The hash of a call of the editor's assistant: the SHA-256 of its canonical form (RFC 8785), as
 * the daemon computes it.
 */
export function callHash(tool: string, input: unknown): string {
  return createHash('sha256').update(canonicalize({ agent: 'editor', tool, input }) ?? '').digest('hex');
}
