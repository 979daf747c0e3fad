/** The address of this process, from its environment (S0-35). The only file of the SDK that reads the environment. */
import { hostInUrl } from '../server/http/addresses.ts'

type Environment = Readonly<Record<string, string | undefined>>
// A browser has no `process`.
const env: Environment = typeof process === 'object' ? process.env : {}

/** `PORT` is 3000 by default, `BIND_HOST` 127.0.0.1. */
export function ownAddress({ PORT = '3000', BIND_HOST = '127.0.0.1' } = env): string {
  return `http://${hostInUrl(BIND_HOST)}:${PORT}`
}
