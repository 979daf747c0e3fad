/** Timestamps as 1.0 writes them: UTC, milliseconds, `Z` (J-3). Peers write them in more ways than that. */

const written = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{0,9}))?(?:[Zz]|([+\- ])(\d\d):?(\d\d))?$/

/**
 * Reads 0 to 9 digits of a fraction, any offset, and no zone at all as UTC; `undefined` if it is not a time.
 * An offset may begin with a space: that is what a `+` becomes in a query string that was not escaped.
 */
export function toTimestamp(text: string): string | undefined {
  const found = written.exec(text)
  if (found === null) return undefined
  const [, date, time, fraction = '', sign, hours = '0', minutes = '0'] = found
  const millis = fraction.slice(0, 3).padEnd(3, '0')
  const utc = `${date}T${time}.${millis}Z`
  const at = Date.parse(utc)
  // Date.parse moves the 31st of June into July; a date that does not exist is not a time.
  if (Number.isNaN(at) || new Date(at).toISOString() !== utc) return undefined
  if (sign === undefined) return utc
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000
  const shifted = new Date(sign === '-' ? at + offsetMs : at - offsetMs).toISOString()
  // Beyond the years 0 to 9999 the notation grows a sign.
  return shifted.length === utc.length ? shifted : undefined
}
