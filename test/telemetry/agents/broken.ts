/** Fails, and says why in words that hold a secret. */
export const agent = (): never => {
  throw new Error('refused by https://user:hunter2hunter2@db.internal with Bearer abcdefghijklmnop')
}
