/** A leak slightly above the bound, a cache that fills up, and neither: the measurement must distinguish them. */
import { boundOf, measureAll } from './measure.ts'

const boundBytes = boundOf(1)
const kept: unknown[] = []
const cache: unknown[] = []
const piece = (bytes: number): unknown => Array.from({ length: Math.ceil(bytes / 8) }, (_, index) => index / 3)

await measureAll([
  { name: 'a leak', run: async () => kept.push(piece(boundBytes * 1.5)) },
  {
    name: 'a cache with a bound',
    async run(index) {
      cache[index % 600] = piece(boundBytes * 1.5)
    },
  },
  { name: 'nothing', run: async () => piece(boundBytes * 1.5) },
])
