/** Where warnings go when nobody has said: to the console. What goes well is not worth a line. */
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
