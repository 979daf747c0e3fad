import type { Turn } from '@parley/a2a'

export async function* agent({ text }: Turn) {
  yield `Hello, ${text}!`
}
