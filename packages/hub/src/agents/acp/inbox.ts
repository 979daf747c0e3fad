/** A queue with several writers and one reader, in order of arrival. */

export interface EventQueue<T> {
  push(item: T): void
  next(): Promise<T>
}

export function createEventQueue<T>(): EventQueue<T> {
  const items: T[] = []
  let waiting: ((item: T) => void) | undefined
  return {
    push(item) {
      if (waiting === undefined) {
        items.push(item)
        return
      }
      const take = waiting
      waiting = undefined
      take(item)
    },
    next() {
      const item = items.shift()
      return item === undefined ? new Promise((resolve) => (waiting = resolve)) : Promise.resolve(item)
    },
  }
}
