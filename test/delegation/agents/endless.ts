/** Reports WORKING, and works until it is stopped. */
import { status } from '@parley/a2a'
import type { Turn } from '@parley/a2a'

export default async function* ({ signal }: Turn) {
  yield status('At it')
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
}
