/** A part of the console that is fetched when it is first needed: also then if the hub is away just at that moment. */
const firstWaitMs = 500
const longestWaitMs = 10_000

export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}
