// Tells calls apart. A model may reuse the id of an earlier call, so the whole input is part of what a call is.

/** A value as JSON with its members in order, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : member) ?? '';
}

/** The key of a call: the same id with another input is another call. */
export function keyOf(callId: string, input: unknown): string {
  return `${callId} ${canonical(input)}`;
}
