/** The path of a value in JSON, as code would write it: `skills[0].name`. */
export function jsonPath(path: string, key: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${key}]`
  const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)
  return path === '' ? name : `${path}.${name}`
}
