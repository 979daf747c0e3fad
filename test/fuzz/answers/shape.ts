/**
 * A small schema language for answers. It is separate from
 * the codecs on purpose: a mistake in a codec must not hide itself. Strict
 * where readers are lenient: an unknown key is a violation.
 */
export type Complain = (what: string) => void
export type Check = (value: unknown, path: string, complain: (path: string, what: string) => void) => void

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** All violations of a value, each with its path. */
export function complaintsOf(check: Check, value: unknown, path: string): string[] {
  const found: string[] = []
  check(value, path, (at, what) => found.push(`${at} ${what}`))
  return found
}

export const text: Check = (value, path, complain) => {
  if (typeof value !== 'string') complain(path, `is ${typeof value} and not a string`)
}

export const words: Check = (value, path, complain) => {
  if (typeof value !== 'string' || value === '') complain(path, 'is not a string that says something')
}

export const flag: Check = (value, path, complain) => {
  if (typeof value !== 'boolean') complain(path, 'is not a boolean')
}

export function count(min: number, max = Number.MAX_SAFE_INTEGER): Check {
  return (value, path, complain) => {
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
      complain(path, `is not an integer from ${min} to ${max}`)
    }
  }
}

export function oneOf(...allowed: readonly unknown[]): Check {
  return (value, path, complain) => {
    if (!allowed.includes(value)) complain(path, `is ${JSON.stringify(value)} and none of ${allowed.join(', ')}`)
  }
}

export const anything: Check = () => {}

/** A free object, such as metadata. */
export const struct: Check = (value, path, complain) => {
  if (!isJsonObject(value)) complain(path, 'is not an object')
}

/** UTC, with `Z` (J-3). */
export const timestamp: Check = (value, path, complain) => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(value)) {
    complain(path, 'is not a timestamp in UTC')
  }
}

/** Standard alphabet, with padding (J-4). */
export const base64: Check = (value, path, complain) => {
  if (typeof value !== 'string' || value.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) {
    complain(path, 'is not padded base64')
  }
}

export function list(of: Check, atLeast = 0): Check {
  return (value, path, complain) => {
    if (!Array.isArray(value)) return complain(path, 'is not an array')
    if (value.length < atLeast) complain(path, `has fewer than ${atLeast} elements`)
    value.forEach((item, index) => of(item, `${path}[${index}]`, complain))
  }
}

/** A field whose name ends in `?` may be missing; it may never be null, which only readers accept. */
export function object(fields: Readonly<Record<string, Check>>): Check {
  const known = new Map(
    Object.entries(fields).map(([name, check]) => [name.replace('?', ''), { check, optional: name.endsWith('?') }]),
  )
  return (value, path, complain) => {
    if (!isJsonObject(value)) return complain(path, 'is not an object')
    for (const key of Object.keys(value)) if (!known.has(key)) complain(`${path}.${key}`, 'does not belong there')
    for (const [name, { check, optional }] of known) {
      if (Object.hasOwn(value, name)) check(value[name], `${path}.${name}`, complain)
      else if (!optional) complain(`${path}.${name}`, 'is missing')
    }
  }
}

/** Exactly one of these members, beside the common ones. */
export function exactlyOne(
  members: Readonly<Record<string, Check>>,
  common: Readonly<Record<string, Check>> = {},
): Check {
  return (value, path, complain) => {
    if (!isJsonObject(value)) return complain(path, 'is not an object')
    const present = Object.keys(members).filter((name) => Object.hasOwn(value, name))
    const [only] = present
    if (only === undefined || present.length > 1) {
      return complain(path, `has ${present.join(' and ') || 'none'} of ${Object.keys(members).join(', ')}`)
    }
    object({ ...common, [only]: members[only] as Check })(value, path, complain)
  }
}

/** The check that the value selects by its discriminator. */
export function byKind(key: string, kinds: Readonly<Record<string, Check>>): Check {
  return (value, path, complain) => {
    const kind = isJsonObject(value) ? value[key] : undefined
    const check = typeof kind === 'string' && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    if (check === undefined) complain(`${path}.${key}`, `is none of ${Object.keys(kinds).join(', ')}`)
    else check(value, path, complain)
  }
}
