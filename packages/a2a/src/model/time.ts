/** Timestamps as 1.0 writes them: UTC, milliseconds, `Z` (J-3). Peers write them in other ways too. */

const timestampPattern = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{0,9}))?(?:[Zz]|([+\- ])(\d\d):?(\d\d))?$/

/**
 * Accepts 0 to 9 fraction digits, any offset, and a missing zone as UTC. Returns `undefined` if the text is not a time. An offset
 * may begin with a space: an unescaped `+` in a query string becomes one.
 */
export function toTimestamp(text: string): string | undefined {
  const found = timestampPattern.exec(text)
  if (found === null) return undefined
  const [, date, time, fraction = '', sign, hours = '0', minutes = '0'] = found
  const millis = fraction.slice(0, 3).padEnd(3, '0')
  const utc = `${date}T${time}.${millis}Z`
  const at = Date.parse(utc)
  // Date.parse moves the 31st of June into July; reject dates that do not exist.
  if (Number.isNaN(at) || new Date(at).toISOString() !== utc) return undefined
  if (sign === undefined) return utc
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000
  const shifted = new Date(sign === '-' ? at + offsetMs : at - offsetMs).toISOString()
  // Outside the years 0 to 9999 the notation has a sign.
  return shifted.length === utc.length ? shifted : undefined
}
