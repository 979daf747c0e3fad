/** The default log: warnings and errors go to the console; other levels are ignored. */
import type { EngineLog } from '../engine/contract.ts'

export const consoleLog: EngineLog = {
  debug() {},
  info() {},
  warn(message, fields) {
    console.warn(message, fields ?? '')
  },
  error(message, fields) {
    console.error(message, fields ?? '')
  },
}
