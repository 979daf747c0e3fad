/** The error of `turn.store` for a value that exceeds its limits. Adapters recognize it and end the task with a reason for the caller. */
export class TurnStoreFullError extends RangeError {
  override readonly name = 'TurnStoreFullError'
}

/** Whether an error, or one that caused it, is a full store: frameworks wrap errors of their storage. */
export function isTurnStoreFull(reason: unknown): boolean {
  for (let error = reason, depth = 0; error instanceof Error && depth < 10; error = error.cause, depth += 1)
    if (error instanceof TurnStoreFullError) return true
  return false
}
