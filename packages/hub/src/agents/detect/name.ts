/** What an agent may be called here, made of what it calls itself. */
import { whatIsWrongWithName } from '@parley/a2a/server'

const longest = 48

/** The first that says anything: of a path or a scoped name, its last part. */
export function nameFrom(...wanted: readonly (string | undefined)[]): string {
  for (const text of wanted) {
    const name = slugOf(text?.split('/').findLast((part) => part.trim() !== '') ?? '')
    if (name === '') continue
    return whatIsWrongWithName(name) === undefined ? name : `${name}-agent`
  }
  return 'new-agent'
}

/** That name, or the same with a number that nobody has. */
export function freeName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name
  for (let count = 2; ; count += 1) if (!taken.includes(`${name}-${count}`)) return `${name}-${count}`
}

function slugOf(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const slug = plain.replaceAll(/[^a-z0-9._~]+/g, '-').slice(0, longest)
  return slug.replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
}
