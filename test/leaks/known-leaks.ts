/** A leak a little larger than the bound, a cache that is full after a while, and neither: what the measure must tell apart. */
import { boundBytes, measureAll } from './measure.ts'

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
