/**
 * What an operation leaves behind: the heap after collection, sampled while the operation is repeated, and its
 * slope. Runs in a separate process with `--expose-gc`, and prints one line of JSON per case.
 *
 * The slope is the median of those between every two samples, so that one odd sample does not decide. Whatever has a
 * bound grows until it is reached: a range that is too steep is followed by another, and only what grows in every range
 * leaks. A leak has no bound and fails them all; a busy machine makes this slower and nothing else.
 */

export interface LeakCase {
  readonly name: string
  /** One operation, from the first byte to the end of its work. */
  run(index: number): Promise<unknown>
  /** Divides the number of repetitions, for slow operations. Default 1. */
  readonly slowness?: number
  /** Measured only in the long mode. Default false. */
  readonly fullOnly?: boolean
}

export interface LeakMeasurement {
  readonly name: string
  readonly bytesEach: number
  /** More of them is a leak. */
  readonly boundBytes: number
  /** The total number of repetitions. */
  readonly operations: number
  readonly tookMs: number
}

export const isFull = process.env['PARLEY_FULL'] === '1'
/** For each operation. The quick mode does too few to see less than that, and fewer still of the slow ones. */
export const boundOf = (slowness: number): number => (isFull ? 200 : 1_500 + 500 * slowness)
/** `PARLEY_LEAKS=push` measures only the cases whose names have that word in them. */
const chosen = process.env['PARLEY_LEAKS'] ?? ''

/** Ranges of operations: the first is not sampled, the others are. `PARLEY_LEAKS_RANGE` sets both. */
const given = Number(process.env['PARLEY_LEAKS_RANGE'] ?? 0)
const warmUp = given || (isFull ? 20_000 : 100)
const range = given || (isFull ? 20_000 : 200)
const samples = isFull ? 9 : 4
const mostRanges = isFull ? 3 : 8
/** Collections for each sample. They took a third of the CPU time of the quick mode when there were three. */
const rounds = isFull ? 6 : 2

export async function measureAll(cases: readonly LeakCase[]): Promise<void> {
  for (const one of cases) {
    if ((one.fullOnly === true && !isFull && chosen === '') || !one.name.includes(chosen)) continue
    process.stdout.write(`${JSON.stringify(await measure(one))}\n`)
  }
}

async function measure({ name, run, slowness = 1 }: LeakCase): Promise<LeakMeasurement> {
  const startedAt = performance.now()
  let operations = 0
  const repeat = async (times: number): Promise<void> => {
    for (let left = Math.ceil(times); left > 0; left -= 1) await run(operations++)
  }
  await repeat(warmUp / slowness)
  const boundBytes = boundOf(slowness)
  let bytesEach = Infinity
  for (let ranges = 0; ranges < mostRanges && bytesEach > boundBytes; ranges += 1) {
    const points = [[operations, await heapBytes()] as const]
    while (points.length < samples) {
      await repeat(range / slowness / (samples - 1))
      points.push([operations, await heapBytes()])
    }
    bytesEach = Math.min(bytesEach, slopeOf(points))
    if (chosen !== '') process.stderr.write(`${name}: ${JSON.stringify(points)} → ${Math.round(slopeOf(points))}\n`)
  }
  const tookMs = Math.round(performance.now() - startedAt)
  return { name, bytesEach: Math.round(bytesEach), boundBytes, operations, tookMs }
}

/** Theil and Sen: the median of the slopes between every two points. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).map(([otherX, otherY]) => (otherY - y) / (otherX - x)),
  )
  slopes.sort((one, other) => one - other)
  const middle = slopes.length / 2
  return ((slopes[Math.floor(middle)] ?? 0) + (slopes[Math.ceil(middle) - 1] ?? 0)) / 2
}

/** After several collections: objects seen by a WeakRef or a finalizer in one turn of the event loop are freed in a later one. */
async function heapBytes(): Promise<number> {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('run with --expose-gc')
  let least = Infinity
  for (let round = 0; round < rounds; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    gc()
    const { heapUsed, external } = process.memoryUsage()
    least = Math.min(least, heapUsed + external)
  }
  return least
}
