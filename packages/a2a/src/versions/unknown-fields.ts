/**
 * Fields of a response that this SDK does not know, such as those of a later 1.x. A reader ignores them (J-10) unless the caller asks
 * to keep them. They are kept under a symbol: spreading an object copies them, and neither `Object.keys` nor JSON.stringify shows
 * them.
 */

const unknownFields = Symbol('unknown fields')

/** For `ReadContext.onUnknownField`. */
export function keepUnknownField(object: object, name: string, value: unknown): void {
  const holder = object as { [unknownFields]?: Record<string, unknown> }
  // Without a prototype, so that `__proto__` is a name like any other.
  const kept = (holder[unknownFields] ??= Object.create(null) as Record<string, unknown>)
  kept[name] = value
}

/** The fields that were kept with an object. */
export function unknownFieldsOf(object: object): Readonly<Record<string, unknown>> {
  return (object as { readonly [unknownFields]?: Record<string, unknown> })[unknownFields] ?? {}
}
