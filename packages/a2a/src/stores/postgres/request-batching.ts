/**
 * Combines requests of the same kind from one turn of the event loop into one statement. A thousand readers woken together cost a
 * few round trips, not a thousand.
 */

/** `answer` receives the requests in order and returns the results in the same order. At most `atMost` go into one statement. */
export function batchRequests<Question, Answer>(
  answer: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  atMost: number,
): (question: Question) => Promise<Answer> {
  interface Asked {
    readonly question: Question
    resolve(answer: Answer): void
    reject(reason: unknown): void
  }
  let waiting: Asked[] = []

  function send(): void {
    const all = waiting
    waiting = []
    for (let from = 0; from < all.length; from += atMost) void settle(all.slice(from, from + atMost))
  }

  async function settle(asked: readonly Asked[]): Promise<void> {
    try {
      const answers = await answer(asked.map(({ question }) => question))
      asked.forEach(({ resolve }, index) => resolve(answers[index] as Answer))
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(send)
      waiting.push({ question, resolve, reject })
    })
}

/** Runs calls one after the other, in order. */
export function createSerialQueue() {
  let last: Promise<unknown> = Promise.resolve()
  return {
    take<Result>(work: () => Promise<Result>): Promise<Result> {
      const done = last.then(work, work)
      last = done.catch(() => {})
      return done
    },
  }
}
