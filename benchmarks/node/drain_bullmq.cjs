// Drains no-op jobs from BullMQ: node drain_bullmq.cjs FOLDER URL JOBS GROUPS CONCURRENCY (it has no groups)
// FOLDER has bullmq in its node_modules.
const { createRequire } = require("node:module");
const [folder, url, ...numbers] = process.argv.slice(2);
const [jobs, , concurrency] = numbers.map(Number);
const { Queue, Worker } = createRequire(`${folder}/`)("bullmq");

const payload = { x: "x".repeat(64) };
const connection = { path: url.replace("unix://", ""), maxRetriesPerRequest: null };
const AT_ONCE = 500;

async function main() {
  const queue = new Queue("bench", { connection, defaultJobOptions: { removeOnComplete: true } });
  for (let first = 0; first < jobs; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, jobs - first);
    await queue.addBulk(Array.from({ length: count }, () => ({ name: "work", data: payload })));
  }
  let done = 0;
  const worker = new Worker(
    "bench",
    async () => {
      done += 1;
      if (done === jobs) {
        const elapsed = Number(process.hrtime.bigint() - began) / 1e9;
        console.log(JSON.stringify({ per_s: jobs / elapsed }));
        process.exit(0);
      }
    },
    { connection, concurrency, autorun: false },
  );
  const began = process.hrtime.bigint();
  worker.run();
}

main();
