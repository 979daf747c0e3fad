/** Reads query strings without URL objects: most requests have no query, and the rest name a field or two. */
import { invalidParams } from '../model/error.ts'

/** Decoded, by name; the last value of a repeated name wins. Throws INVALID_PARAMS on a malformed escape. */
export function readQuery(query: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  if (query === '') return found
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    const value = equals < 0 ? '' : pair.slice(equals + 1)
    found.set(decodeField(name, 'query'), decodeField(value, name))
  }
  return found
}

/** Returns one parameter, ignoring the case of its name; `undefined` also if it cannot be decoded. */
export function findParameter(query: string, lowerCaseName: string): string | undefined {
  if (query === '' || !query.toLowerCase().includes(lowerCaseName)) return undefined
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=')
    if (equals < 0 || pair.slice(0, equals).toLowerCase() !== lowerCaseName) continue
    try {
      return decode(pair.slice(equals + 1))
    } catch {
      return undefined
    }
  }
  return undefined
}

/** Percent-decodes a path segment. A malformed escape is an INVALID_PARAMS error and not a crash (F-9). */
export function decodeSegment(segment: string, field: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw invalidParams([{ field, description: 'has a malformed percent escape' }])
  }
}

function decodeField(value: string, field: string): string {
  try {
    return decode(value)
  } catch {
    throw invalidParams([{ field, description: 'has a malformed percent escape' }])
  }
}

function decode(value: string): string {
  const spaced = value.includes('+') ? value.replaceAll('+', ' ') : value
  return spaced.includes('%') ? decodeURIComponent(spaced) : spaced
}
