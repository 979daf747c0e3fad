/**
 * Notifications as an async iterable. Requesting the next one acknowledges the last one to its sender; leaving the loop, by `break`
 * or by an error, leaves the current one unacknowledged, so that it is sent again.
 */
import type { Delivery, DeliveryHandler } from './delivery.ts'

export interface DeliveryFeed {
  readonly handler: DeliveryHandler
  readonly iterator: AsyncIterator<Delivery, undefined>
}

interface PendingDelivery {
  readonly delivery: Delivery
  done(): void
  undone(): void
}

export function createDeliveryFeed(ended: () => void): DeliveryFeed {
  const queue: PendingDelivery[] = []
  let asking: ((result: IteratorResult<Delivery, undefined>) => void) | undefined
  let inHand: PendingDelivery | undefined
  let isOver = false

  const handler: DeliveryHandler = (delivery) =>
    new Promise<void>((resolve, reject) => {
      const waiting: PendingDelivery = {
        delivery,
        done: resolve,
        undone: () => reject(new Error('The notification was not handled')),
      }
      if (asking === undefined) queue.push(waiting)
      else hand(waiting)
      delivery.signal.addEventListener('abort', () => {
        const at = queue.indexOf(waiting)
        if (at >= 0) queue.splice(at, 1)
        waiting.undone()
      })
    })

  function hand(waiting: PendingDelivery): void {
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
