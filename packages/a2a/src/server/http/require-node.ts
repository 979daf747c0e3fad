/** An old Node fails in strange ways; this check fails with one clear sentence. */
const oldest = [22, 18] as const

export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return
  throw new Error(`@parley/a2a/node requires Node.js ${oldest.join('.')} or newer; found ${version}`)
}
