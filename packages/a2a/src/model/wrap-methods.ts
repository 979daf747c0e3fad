type Method = (...args: unknown[]) => unknown

/** A copy of a facet whose methods run through `run`, which may delay them or handle their errors. Other members stay as they are. */
export function wrapMethods<Facet extends object>(facet: Facet, run: (work: () => never) => unknown): Facet {
  const wrapped: Record<string, unknown> = {}
  for (const name of memberNames(facet)) {
    const member: unknown = facet[name as keyof Facet]
    wrapped[name] =
      typeof member === 'function'
        ? (...args: unknown[]) => run(() => (member as Method).apply(facet, args) as never)
        : member
  }
  return wrapped as Facet
}

/** A facet may be an instance of a class, whose methods are those of its prototype. */
function memberNames(facet: object): readonly string[] {
  const prototype = Object.getPrototypeOf(facet) as object | null
  const inherited = prototype === null || prototype === Object.prototype ? [] : memberNames(prototype)
  return [...new Set([...inherited, ...Object.getOwnPropertyNames(facet)])].filter((name) => name !== 'constructor')
}
