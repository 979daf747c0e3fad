/** The control channel of a contestant: its port, its usage, announcements, and its end. */

export interface Usage {
  /** Resident now, and at most so far, in bytes. */
  readonly rss: number
  readonly maxRss: number
  /** Of this process, user and system, in microseconds. */
  readonly cpuMicros: number
}

export type ParentMessage =
  | { readonly order: 'usage'; readonly collect: boolean }
  | { readonly order: 'announce'; readonly text: string }
  | { readonly order: 'close' }

export type ChildMessage = { readonly port: number } | { readonly usage: Usage } | { readonly closed: true }

export interface ContestantServer {
  readonly port: number
  announce(text: string): void
  close(): Promise<void> | void
}

function usage(collect: boolean): Usage {
  if (collect) globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  // `maxRSS` is in kilobytes.
  return { rss: process.memoryUsage.rss(), maxRss: process.resourceUsage().maxRSS * 1024, cpuMicros: user + system }
}

/** Reports the port to the benchmark, then handles its messages until it closes. */
export function runContestant({ port, announce, close }: ContestantServer): void {
  const say = (word: ChildMessage): void => void process.send?.(word)
  process.on('message', (message: ParentMessage) => {
    if (message.order === 'usage') say({ usage: usage(message.collect) })
    else if (message.order === 'announce') announce(message.text)
    else void Promise.resolve(close()).then(() => process.send?.({ closed: true }, () => process.exit(0)))
  })
  // The benchmark has exited: a server without a parent must not remain.
  process.on('disconnect', () => process.exit(0))
  say({ port })
}

export interface AnnouncementFeed {
  publish(text: string): void
  each(listener: (text: string) => void): () => void
}

/** Listeners that wait for the next announcement. The hub loads its agents as a module of its own, so the feed is here. */
export const announcementFeed: AnnouncementFeed = createAnnouncements()

function createAnnouncements(): AnnouncementFeed {
  const listeners = new Set<(text: string) => void>()
  return {
    publish: (text) => listeners.forEach((listener) => listener(text)),
    each(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
