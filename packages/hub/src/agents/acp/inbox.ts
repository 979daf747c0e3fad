/** What comes from several sides, in the order it came, for one who reads it. */

export interface Inbox<T> {
  push(item: T): void
  next(): Promise<T>
}

export function createInbox<T>(): Inbox<T> {
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
