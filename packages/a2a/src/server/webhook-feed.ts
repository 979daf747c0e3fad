/**
 * Notifications as something to loop over. Asking for the next one says that the last one is done, which is when its
 * sender is answered; leaving the loop, by `break` or by an error, leaves the one in hand undone, to be sent again.
 */
import type { Delivery, DeliveryHandler } from './webhook-delivery.ts'

export interface Feed {
  readonly handler: DeliveryHandler
  readonly iterator: AsyncIterator<Delivery, undefined>
}

interface Waiting {
  readonly delivery: Delivery
  done(): void
  undone(): void
}

export function createFeed(ended: () => void): Feed {
  const queue: Waiting[] = []
  let asking: ((result: IteratorResult<Delivery, undefined>) => void) | undefined
  let inHand: Waiting | undefined
  let isOver = false

  const handler: DeliveryHandler = (delivery) =>
    new Promise<void>((resolve, reject) => {
      const waiting: Waiting = { delivery, done: resolve, undone: () => reject(new Error('nobody took it')) }
      if (asking === undefined) queue.push(waiting)
      else hand(waiting)
      delivery.signal.addEventListener('abort', () => {
        const at = queue.indexOf(waiting)
        if (at >= 0) queue.splice(at, 1)
        waiting.undone()
      })
    })

  function hand(waiting: Waiting): void {
    const give = asking
    asking = undefined
    inHand = waiting
    give?.({ done: false, value: waiting.delivery })
  }

  return {
    handler,
    iterator: {
      next() {
        inHand?.done()
        inHand = undefined
        if (isOver) return Promise.resolve({ done: true, value: undefined })
        return new Promise((resolve) => {
          asking = resolve
          const first = queue.shift()
          if (first !== undefined) hand(first)
        })
      },
      return() {
        isOver = true
        ended()
        asking?.({ done: true, value: undefined })
        for (const waiting of [...(inHand === undefined ? [] : [inHand]), ...queue.splice(0)]) waiting.undone()
        inHand = undefined
        return Promise.resolve({ done: true, value: undefined })
      },
    },
  }
}
