/** How long each probe may take. */
export interface DetectTimes {
  readonly httpMs: number
  readonly programMs: number
  /** For a program that may have to be downloaded first. */
  readonly fetchedMs: number
}
