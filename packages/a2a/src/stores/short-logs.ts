/**
 * Which logs a store reads together with the rows of their tasks. Most logs are short, and starting a read costs more than reading
 * one: three reads for each of 50 tasks were 150 round trips to PostgreSQL for one page of a list. Longer logs are read on request.
 */

/** The maximum size of such a log. */
export const maxShortLogBytes = 65_536

/** About as much as a page of ListTasks contains at most: longer texts would hold the event loop to no purpose. */
const maxPageCharacters = 1_000_000

/** For one page: decides for each log, in order, whether its text is still decoded. */
export function limitPageLogs(): (text: string) => boolean {
  let left = maxPageCharacters
  return ({ length }) => {
    left -= length
    return left >= 0
  }
}
