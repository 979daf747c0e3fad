/** Where a store reports what an operator should know. */
export interface StoreLog {
  warn(message: string, fields?: Record<string, unknown>): void
  info?(message: string, fields?: Record<string, unknown>): void
}

export const silentLog: StoreLog = { warn() {} }
