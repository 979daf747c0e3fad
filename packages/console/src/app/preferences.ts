/** Preferences that this browser stores: the width of a list, the theme. Never any content of the hub. */

const prefix = 'parley.'

export function savePreference(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value)
  } catch {
    // Without storage, the preference is lost on reload.
  }
}

export function readPreference(name: string): string | undefined
export function readPreference<Value extends string>(name: string, allowed: readonly Value[]): Value | undefined
export function readPreference(name: string, allowed?: readonly string[]): string | undefined {
  let value: string | null = null
  try {
    value = localStorage.getItem(prefix + name)
  } catch {
    return undefined
  }
  if (value === null) return undefined
  return allowed === undefined ? value : allowed.find((one) => one === value)
}
