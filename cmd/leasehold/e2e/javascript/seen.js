// What a watch or an informer has told so far, for those who wait for more.

import assert from 'node:assert/strict';

const patience = 60_000;

export class Seen {
  events = [];
  #waiting = new Set();

  add(event) {
    this.events.push(event);
    this.#waiting.forEach((look) => look());
  }

  // until waits for what a condition on the events says.
  until(condition, what) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new assert.AssertionError({ message: `${what} did not come, only ${JSON.stringify(this.events)}` }));
      }, patience);
      const look = () => {
        if (!condition(this.events)) return;
        clearTimeout(late);
        this.#waiting.delete(look);
        resolve(this.events);
      };
      this.#waiting.add(look);
      look();
    });
  }

  count(count) {
    return this.until((events) => events.length >= count, `${count} events`);
  }
}

// told shortens an event to what is compared: what happened, to whom, with which version.
export function told(type, { metadata }) {
  return `${type} ${metadata.name} ${metadata.resourceVersion}`;
}
