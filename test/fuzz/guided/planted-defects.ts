/** Targets with a defect each, to show that the fuzz finds such defects. */
import type { FuzzTarget, Subject } from './target.ts'

const planted = (name: string, run: Subject['run'], more: Partial<FuzzTarget> = {}): FuzzTarget => ({
  name,
  format: 'text',
  weight: 1,
  dictionary: [],
  seeds: () => [new Uint8Array([0])],
  open: async () => ({ run }),
  ...more,
})

/** Four letters, each behind its own branch: a fuzzer without coverage has to guess all four at once. */
const deep = planted(
  'deep',
  (input) => {
    if (input[0] !== 0x46) return
    if (input[1] !== 0x55) return
    if (input[2] !== 0x5a) return
    if (input[3] === 0x5b) throw new Error('found at the bottom')
  },
  { isSync: true, dictionary: ['F', 'U', 'Z', '['] },
)

const isLong = (input: Uint8Array): boolean => input.length > 2

const slow = planted('slow', (input) => {
  const endsAt = process.threadCpuUsage().user + 80_000
  while (isLong(input) && process.threadCpuUsage().user < endsAt);
})
const unhandled = planted('unhandled', async (input) => {
  if (isLong(input)) void Promise.reject(new Error('unhandled on purpose'))
})
const pending = planted('pending', (input) => (isLong(input) ? new Promise<void>(() => {}) : undefined))
const endless = planted('endless', (input) => {
  while (isLong(input));
})
const exits = planted('exits', (input) => {
  if (isLong(input)) process.exit(3)
})

export const targets: readonly FuzzTarget[] = [deep, slow, unhandled, pending, endless, exits]
