/** Receives messages of a store for the operator. */
export interface StoreLog {
  warn(message: string, fields?: Record<string, unknown>): void
  info?(message: string, fields?: Record<string, unknown>): void
}

export const silentLog: StoreLog = { warn() {} }
