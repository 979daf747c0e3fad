/**
 * Which agent a path leads to and which of its doors. Every agent lives under its own
 * path; the first one also answers at the root, at /a2a and at /api/a2a, where people
 * look for an agent without being told. Cut with indexOf: this runs for every request.
 */
import { absent, type Resident } from './resident.ts'
import type { Roster } from './roster.ts'

export type Door = 'jsonrpc' | 'card' | 'card-0.2' | 'extended-card-0.2' | 'rest'

export interface Place {
  readonly resident: Resident
  readonly door: Door
  /** What is left of the path behind the agent's own. */
  readonly rest: string
}

export function locate({ byName, first }: Roster, path: string, tenants: readonly string[] = []): Place {
  if (path === '/') return { resident: first, door: 'jsonrpc', rest: '' }
  if (path.startsWith('/a2a')) {
    if (path.length === 4) return { resident: first, door: 'jsonrpc', rest: '' }
    if (path[4] === '/') {
      const slash = path.indexOf('/', 5)
      const name = slash < 0 ? path.slice(5) : path.slice(5, slash)
      const resident = byName.get(name)
      const rest = slash < 0 ? '' : path.slice(slash)
      if (resident !== undefined && resident.path !== '') return behind(resident, rest)
      // Where agents have names, what may be one is taken for one: of an agent that is hidden nobody learns that it is there.
      const nobody = first.path === '' || tenants.includes(name) ? undefined : absent(name)
      return nobody === undefined ? behind(first, path.slice(4)) : behind(nobody, rest)
    }
  }
  if (path === '/api/a2a') return { resident: first, door: 'jsonrpc', rest: '' }
  // The card of the root does not list this address, so it is found beneath it.
  if (path.startsWith('/api/a2a/') && doorOf(path.slice(8)).startsWith('card')) return behind(first, path.slice(8))
  return behind(first, path)
}

function behind(resident: Resident, rest: string): Place {
  return { resident, door: doorOf(rest), rest }
}

function doorOf(rest: string): Door {
  switch (rest) {
    case '':
    case '/':
      return 'jsonrpc'
    case '/.well-known/agent-card.json':
    case '/.well-known/agent':
    case '/agent-card':
      return 'card'
    case '/.well-known/agent.json':
      return 'card-0.2'
    case '/agent/authenticatedExtendedCard':
      return 'extended-card-0.2'
    default:
      return 'rest'
  }
}
