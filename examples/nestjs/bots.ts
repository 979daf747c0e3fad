/** The bots of the application. Each answers by an Observable, and knows nothing of A2A; unsubscribing stops it. */
import { concatMap, delay, from, interval, map, type Observable, of } from 'rxjs'

export interface Bot {
  readonly description: string
  answer(prompt: string): Observable<string>
}

export const bots: Readonly<Record<string, Bot>> = {
  echo: {
    description: 'Repeats the question, word by word',
    answer: (prompt) =>
      from(`You asked: ${prompt}`.split(/(?<= )/)).pipe(concatMap((word) => of(word).pipe(delay(20)))),
  },
  clock: {
    description: 'Counts, and never stops by itself',
    answer: () => interval(50).pipe(map((count) => `${count} `)),
  },
}
