/**
 * Puts questions of the same kind that are asked in one turn of the event loop into one statement. A thousand readers that
 * are woken together are a few round trips, not a thousand.
 */

/** `answer` gets the questions in order and answers in the same order. `atMost` go into one statement. */
export function gather<Question, Answer>(
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

/** One after the other, in the order in which they are asked for. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return {
    take<Result>(work: () => Promise<Result>): Promise<Result> {
      const done = last.then(work, work)
      last = done.catch(() => {})
      return done
    },
  }
}
