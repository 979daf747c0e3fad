/** Compares this machine's clock with other clocks: those of the database, the hub and remote agents. */
import { ok, warning, type DoctorFinding } from './finding.ts'

export interface ClockReading {
  /** `the database` */
  readonly source: string
  /** How far that clock is ahead of this one. */
  readonly offsetMs: number
}

/** HTTP dates have whole seconds, and a request takes time. */
const maxOffsetMs = 5_000

export function checkClock(readings: readonly ClockReading[]): DoctorFinding {
  if (readings.length === 0) return ok('clock', 'not compared: there is no database, hub or remote agent to ask')
  const [worst] = readings.toSorted((a, b) => Math.abs(b.offsetMs) - Math.abs(a.offsetMs))
  if (worst === undefined || Math.abs(worst.offsetMs) <= maxOffsetMs)
    return ok('clock', `agrees with ${readings.map(({ source }) => source).join(', ')}`)
  const seconds = Math.round(Math.abs(worst.offsetMs) / 1_000)
  return warning(
    'clock',
    `${seconds} s ${worst.offsetMs > 0 ? 'behind' : 'ahead of'} ${worst.source}`,
    'Synchronize the clock, for example with `timedatectl set-ntp true`: tokens expire by it.',
  )
}

/** The clock of a server, from the `Date` header of its response. */
export function clockOfResponse(source: string, response: Response): readonly ClockReading[] {
  const date = Date.parse(response.headers.get('date') ?? '')
  return Number.isNaN(date) ? [] : [{ source, offsetMs: date - Date.now() }]
}
