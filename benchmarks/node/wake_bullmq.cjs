// Wakes a parked worker of BullMQ: node wake_bullmq.cjs FOLDER URL JOBS
const { createRequire } = require("node:module");
const { had, isWorker, ready, wake } = require("./waking.cjs");
const [folder, url, jobs] = process.argv.slice(2);
const { Queue, Worker } = createRequire(`${folder}/`)("bullmq");

const connection = { path: url.replace("unix://", ""), maxRetriesPerRequest: null };
if (isWorker()) {
  new Worker("bench", async (job) => had(job.data.at), { connection, concurrency: 8 });
  ready();
} else {
  const queue = new Queue("bench", { connection, defaultJobOptions: { removeOnComplete: true } });
  wake((at) => queue.add("work", { at }), Number(jobs));
}
