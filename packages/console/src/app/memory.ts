/** What this browser remembers between visits: how wide a list is, light or dark. Never anything that was said or shown. */

const prefix = 'parley.'

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value)
  } catch {
    // A browser that keeps nothing asks again next time.
  }
}

export function remembered(name: string): string | undefined
export function remembered<Value extends string>(name: string, among: readonly Value[]): Value | undefined
export function remembered(name: string, among?: readonly string[]): string | undefined {
  let value: string | null = null
  try {
    value = localStorage.getItem(prefix + name)
  } catch {
    return undefined
  }
  if (value === null) return undefined
  return among === undefined ? value : among.find((one) => one === value)
}
