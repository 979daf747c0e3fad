/** How the search of the site ranks what it finds. */

export const searchOptions = {
  // A word in a title counts more than in the text, and its plural nearly as much as the word.
  boost: { title: 8, text: 1, titles: 1 },
  weights: { prefix: 0.9, fuzzy: 0.2 },
  /** The title of a page counts more than that of a section, which has the titles above it. Runs in the browser: it uses no import. */
  boostDocument: (_id: string, _term: string, stored?: { readonly titles?: readonly string[] }): number =>
    stored?.titles?.length === 0 ? 2 : 1,
}
