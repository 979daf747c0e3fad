/** Derives a valid agent name from what an agent calls itself. */
import { validateAgentName } from '@parley/a2a/server'

const maxNameLength = 48

/** Uses the first candidate that gives a name; of a path or a scoped name, its last part. */
export function agentNameFrom(...wanted: readonly (string | undefined)[]): string {
  for (const text of wanted) {
    const name = slugOf(text?.split('/').findLast((part) => part.trim() !== '') ?? '')
    if (name === '') continue
    return validateAgentName(name) === undefined ? name : `${name}-agent`
  }
  return 'new-agent'
}

/** The name, with a number appended if it is taken. */
export function uniqueAgentName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name
  for (let count = 2; ; count += 1) if (!taken.includes(`${name}-${count}`)) return `${name}-${count}`
}

function slugOf(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const slug = plain.replaceAll(/[^a-z0-9._~]+/g, '-').slice(0, maxNameLength)
  return slug.replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
}
