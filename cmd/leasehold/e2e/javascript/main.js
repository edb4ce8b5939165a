// Checks what the JavaScript client makes of Leasehold. The arguments are the topics to check: modules of this folder,
// whose default export has a function for each check. One line of JSON tells what became of each, and a fault does not
// keep others from running.

for (const topic of process.argv.slice(2)) {
  const { default: checks } = await import(`./${topic}.js`);
  for (const [name, check] of Object.entries(checks)) {
    let fault = '';
    try {
      await check();
    } catch (error) {
      fault = error.stack ?? String(error);
    }
    console.log(JSON.stringify({ check: `${topic}/${name}`, fault }));
  }
}
process.exit(); // what a failed check has left open must not hold us
