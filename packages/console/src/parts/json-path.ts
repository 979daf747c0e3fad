/** Where a value stands in JSON, as one would write it in a program: `skills[0].name`. */
export function pathTo(path: string, key: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${key}]`
  const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)
  return path === '' ? name : `${path}.${name}`
}
