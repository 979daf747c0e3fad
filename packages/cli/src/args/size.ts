/** Sizes as options spell them: `100MB`, `512kB`, `1GiB`, or bytes without a unit. */

const unitBytes: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1_000,
  mb: 1_000_000,
  gb: 1_000_000_000,
  kib: 1_024,
  mib: 1_024 ** 2,
  gib: 1_024 ** 3,
}

/** In bytes; `undefined` if the text is no size. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit = 'b'] = /^(\d+(?:\.\d+)?) ?([kmg]?i?b)?$/i.exec(text) ?? []
  const bytes = unitBytes[unit.toLowerCase()]
  return amount === undefined || bytes === undefined ? undefined : Math.floor(Number(amount) * bytes)
}
