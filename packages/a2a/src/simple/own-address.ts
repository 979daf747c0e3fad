/** Where this process is reached, as its environment says it (S0-35). The one file of the SDK that reads the environment. */
import { hostInUrl } from '../server/host-in-url.ts'

type Environment = Readonly<Record<string, string | undefined>>
// There is none in a browser.
const env: Environment = typeof process === 'object' ? process.env : {}

/** `PORT` is 3000 by default, `BIND_HOST` 127.0.0.1. */
export function ownAddress({ PORT = '3000', BIND_HOST = '127.0.0.1' } = env): string {
  return `http://${hostInUrl(BIND_HOST)}:${PORT}`
}
