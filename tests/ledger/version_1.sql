-- A ledger of layout version 1, written by commit fb6fe2e.
BEGIN TRANSACTION;
CREATE TABLE contents (
	source INTEGER NOT NULL, 
	tag TEXT NOT NULL, 
	PRIMARY KEY (source, tag), 
	FOREIGN KEY(source) REFERENCES sources (id)
);
INSERT INTO "contents" VALUES(2,'e5caf77304430ddd83a2d3c9c2011b396ba68d60d21c85caa1902ee72aa54ca9');
CREATE TABLE debits (
	id INTEGER NOT NULL, 
	release INTEGER NOT NULL, 
	unit INTEGER NOT NULL, 
	framework INTEGER NOT NULL, 
	recharge BOOLEAN NOT NULL, 
	charge TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(release) REFERENCES releases (id), 
	FOREIGN KEY(unit) REFERENCES units (id), 
	FOREIGN KEY(framework) REFERENCES frameworks (id)
);
INSERT INTO "debits" VALUES(1,1,1,1,0,'{"answers":["738d1fbcac9d015f"],"change":"100","composition":"whole","definition":"pufferfish","delta":"0","entries":100,"entry_change":"1","epsilon":"1/3","fixed_in_advance":false,"framework":"8525e37635fad3b7","pieces":["40d9afd03b3d591c"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"300"},"release":"457b1d16598af9ae","scale":"300","scope":"unit"}');
INSERT INTO "debits" VALUES(2,2,1,1,0,'{"answers":["738d1fbcac9d015f"],"change":"100","composition":"quilt","definition":"pufferfish","delta":"0","entries":100,"entry_change":"1","epsilon":"1","fixed_in_advance":false,"framework":"8525e37635fad3b7","pieces":["40d9afd03b3d591c"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"12"},"release":"4fdc1c5abbacfd8f","scale":"12","scope":"unit"}');
INSERT INTO "debits" VALUES(3,3,1,1,0,'{"answers":["738d1fbcac9d015f"],"change":"100","composition":"quilt","definition":"pufferfish","delta":"0","entries":100,"entry_change":"1","epsilon":"1","fixed_in_advance":false,"framework":"8525e37635fad3b7","pieces":["40d9afd03b3d591c"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"12"},"release":"2de4f89568d363ac","scale":"12","scope":"unit"}');
INSERT INTO "debits" VALUES(4,4,1,1,0,'{"answers":["738d1fbcac9d015f"],"change":"100","composition":"whole","definition":"pufferfish","delta":"0","entries":100,"entry_change":"1","epsilon":"1/7","fixed_in_advance":false,"framework":"8525e37635fad3b7","pieces":["40d9afd03b3d591c"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"700"},"release":"061e21748e7fc8c1","scale":"700","scope":"unit"}');
INSERT INTO "debits" VALUES(5,5,2,2,0,'{"answers":["7438a79b613174e2"],"change":"12","composition":"data","definition":"pufferfish","delta":"0","entries":6,"entry_change":"2","epsilon":"1","fixed_in_advance":false,"framework":"8309bb05aa2d2ef9","pieces":["40c817682000b8d7"],"query":{"entries":null,"kind":"histogram","states":null,"total":null},"randomiser":{"cells":2,"grid":"1","kind":"discrete-laplace","units":"8"},"release":"3954cb5e11bf83a9","scale":"8","scope":"unit"}');
INSERT INTO "debits" VALUES(6,5,3,3,0,'{"answers":["4d3c9c8a651e9bc2"],"change":"6","composition":"whole","definition":"pufferfish","delta":"0","entries":3,"entry_change":"2","epsilon":"1","fixed_in_advance":false,"framework":"1ac87427a6b9ec4c","pieces":["06d033ece6645de5"],"query":{"entries":null,"kind":"histogram","states":null,"total":null},"randomiser":{"cells":2,"grid":"1","kind":"discrete-laplace","units":"6"},"release":"3954cb5e11bf83a9","scale":"6","scope":"unit"}');
INSERT INTO "debits" VALUES(7,5,4,4,0,'{"answers":["7438a79b613174e2"],"change":"12","composition":"whole","definition":"pufferfish","delta":"0","entries":6,"entry_change":"2","epsilon":"1","fixed_in_advance":false,"framework":"2f3e781b1d89dcca","pieces":["fe94b827f0455bee"],"query":{"entries":null,"kind":"histogram","states":null,"total":null},"randomiser":{"cells":2,"grid":"1","kind":"discrete-laplace","units":"12"},"release":"3954cb5e11bf83a9","scale":"12","scope":"unit"}');
INSERT INTO "debits" VALUES(8,5,5,5,0,'{"answers":["b371ae661ee99ec5"],"change":"10","composition":"whole","definition":"pufferfish","delta":"0","entries":5,"entry_change":"2","epsilon":"1","fixed_in_advance":false,"framework":"47c3557e13c72905","pieces":["1ae3592f8248c3f8"],"query":{"entries":null,"kind":"histogram","states":null,"total":null},"randomiser":{"cells":2,"grid":"1","kind":"discrete-laplace","units":"10"},"release":"3954cb5e11bf83a9","scale":"10","scope":"unit"}');
INSERT INTO "debits" VALUES(9,5,6,3,0,'{"answers":["4d3c9c8a651e9bc2"],"change":"6","composition":"whole","definition":"pufferfish","delta":"0","entries":3,"entry_change":"2","epsilon":"1","fixed_in_advance":false,"framework":"1ac87427a6b9ec4c","pieces":["06d033ece6645de5"],"query":{"entries":null,"kind":"histogram","states":null,"total":null},"randomiser":{"cells":2,"grid":"1","kind":"discrete-laplace","units":"6"},"release":"3954cb5e11bf83a9","scale":"6","scope":"unit"}');
INSERT INTO "debits" VALUES(10,6,2,2,0,'{"answers":["7438a79b613174e2"],"change":"12","composition":"data","definition":"pufferfish","delta":"0","entries":6,"entry_change":"2","epsilon":"1","fixed_in_advance":false,"framework":"8309bb05aa2d2ef9","pieces":["40c817682000b8d7"],"query":{"entries":null,"kind":"histogram","states":null,"total":null},"randomiser":{"cells":2,"grid":"1","kind":"discrete-laplace","units":"12"},"release":"60ad461f9cf8f0a7","scale":"12","scope":"pooled"}');
INSERT INTO "debits" VALUES(11,6,3,3,0,'{"answers":["4d3c9c8a651e9bc2"],"change":"6","composition":"data","definition":"pufferfish","delta":"0","entries":3,"entry_change":"2","epsilon":"1","fixed_in_advance":false,"framework":"1ac87427a6b9ec4c","pieces":["06d033ece6645de5"],"query":{"entries":null,"kind":"histogram","states":null,"total":null},"randomiser":{"cells":2,"grid":"1","kind":"discrete-laplace","units":"12"},"release":"60ad461f9cf8f0a7","scale":"12","scope":"pooled"}');
INSERT INTO "debits" VALUES(12,6,4,4,0,'{"answers":["7438a79b613174e2"],"change":"12","composition":"data","definition":"pufferfish","delta":"0","entries":6,"entry_change":"2","epsilon":"1","fixed_in_advance":false,"framework":"2f3e781b1d89dcca","pieces":["fe94b827f0455bee"],"query":{"entries":null,"kind":"histogram","states":null,"total":null},"randomiser":{"cells":2,"grid":"1","kind":"discrete-laplace","units":"12"},"release":"60ad461f9cf8f0a7","scale":"12","scope":"pooled"}');
INSERT INTO "debits" VALUES(13,6,5,5,0,'{"answers":["b371ae661ee99ec5"],"change":"10","composition":"data","definition":"pufferfish","delta":"0","entries":5,"entry_change":"2","epsilon":"1","fixed_in_advance":false,"framework":"47c3557e13c72905","pieces":["1ae3592f8248c3f8"],"query":{"entries":null,"kind":"histogram","states":null,"total":null},"randomiser":{"cells":2,"grid":"1","kind":"discrete-laplace","units":"12"},"release":"60ad461f9cf8f0a7","scale":"12","scope":"pooled"}');
INSERT INTO "debits" VALUES(14,6,6,3,0,'{"answers":["4d3c9c8a651e9bc2"],"change":"6","composition":"data","definition":"pufferfish","delta":"0","entries":3,"entry_change":"2","epsilon":"1","fixed_in_advance":false,"framework":"1ac87427a6b9ec4c","pieces":["06d033ece6645de5"],"query":{"entries":null,"kind":"histogram","states":null,"total":null},"randomiser":{"cells":2,"grid":"1","kind":"discrete-laplace","units":"12"},"release":"60ad461f9cf8f0a7","scale":"12","scope":"pooled"}');
INSERT INTO "debits" VALUES(15,7,4,4,0,'{"answers":["388964c37b3104f6"],"change":"6","composition":"whole","definition":"pufferfish","delta":"0.001","entries":6,"entry_change":"1","epsilon":"0.5","fixed_in_advance":false,"framework":"2f3e781b1d89dcca","pieces":["fe94b827f0455bee"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"rounded-normal","sigma":"30"},"release":"d7a793717ad0105a","scale":null,"scope":"unit"}');
INSERT INTO "debits" VALUES(16,8,4,4,0,'{"answers":["388964c37b3104f6"],"change":"6","composition":"whole","definition":"pufferfish","delta":"0","entries":6,"entry_change":"1","epsilon":"1","fixed_in_advance":false,"framework":"2f3e781b1d89dcca","pieces":["fe94b827f0455bee"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"6"},"release":"276c764f911aef32","scale":"6","scope":"unit"}');
INSERT INTO "debits" VALUES(17,9,7,6,0,'{"answers":["388964c37b3104f6"],"change":"6","composition":"single","definition":"pufferfish","delta":"0","entries":6,"entry_change":"1","epsilon":"1","fixed_in_advance":false,"framework":"8309bb05aa2d2ef9","pieces":["40c817682000b8d7"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"3"},"release":"dd5726bfbc03198e","scale":"3","scope":"pooled"}');
INSERT INTO "debits" VALUES(18,9,8,7,0,'{"answers":["388964c37b3104f6"],"change":"6","composition":"single","definition":"pufferfish","delta":"0","entries":6,"entry_change":"1","epsilon":"1","fixed_in_advance":false,"framework":"2f3e781b1d89dcca","pieces":["fe94b827f0455bee"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"3"},"release":"dd5726bfbc03198e","scale":"3","scope":"pooled"}');
INSERT INTO "debits" VALUES(19,9,9,8,0,'{"answers":["0d6b91255acaacad"],"change":"3","composition":"single","definition":"pufferfish","delta":"0","entries":3,"entry_change":"1","epsilon":"1","fixed_in_advance":false,"framework":"1ac87427a6b9ec4c","pieces":["06d033ece6645de5"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"3"},"release":"dd5726bfbc03198e","scale":"3","scope":"pooled"}');
INSERT INTO "debits" VALUES(20,10,8,7,0,'{"answers":["388964c37b3104f6"],"change":"6","composition":"whole","definition":"pufferfish","delta":"0","entries":6,"entry_change":"1","epsilon":"1","fixed_in_advance":false,"framework":"2f3e781b1d89dcca","pieces":["fe94b827f0455bee"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"6"},"release":"605b0c4b51ad29da","scale":"6","scope":"unit"}');
INSERT INTO "debits" VALUES(21,11,10,9,0,'{"answers":["e83cb494390f4a31"],"change":"11","composition":"single","definition":"pufferfish","delta":"0","entries":3,"entry_change":"11","epsilon":"1","fixed_in_advance":false,"framework":"f98c0bbc47b600a0","pieces":["06d033ece6645de5"],"query":{"attribute":"u","grid":null,"kind":"identity"},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"1"},"release":"509b7b344251b3ed","scale":"1","scope":"unit"}');
INSERT INTO "debits" VALUES(22,12,10,9,1,'{"answers":["5e1dd2e1a10b79ef"],"change":"11","composition":"single","definition":"pufferfish","delta":"0","entries":3,"entry_change":"11","epsilon":"1","fixed_in_advance":false,"framework":"f98c0bbc47b600a0","pieces":["06d033ece6645de5"],"query":{"attribute":"v","grid":null,"kind":"identity"},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"1"},"release":"3a815fe51f5b2df2","scale":"1","scope":"unit"}');
INSERT INTO "debits" VALUES(23,13,11,10,0,'{"answers":["738d1fbcac9d015f"],"change":"100","composition":"whole","definition":"pufferfish","delta":"0","entries":100,"entry_change":"1","epsilon":"0.5","fixed_in_advance":false,"framework":"8525e37635fad3b7","pieces":["40d9afd03b3d591c"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"200"},"release":"fb1c58e1616dbc3a","scale":"200","scope":"unit"}');
INSERT INTO "debits" VALUES(24,14,12,11,0,'{"answers":["20bda33bcb38e10b"],"change":"2","composition":"whole","definition":"pufferfish","delta":"0","entries":2,"entry_change":"1","epsilon":"1","fixed_in_advance":false,"framework":"26eaceaac7c7f2a4","pieces":["038966de9f6b9a90"],"query":{"entries":null,"kind":"count","states":[1]},"randomiser":{"cells":1,"grid":"1","kind":"discrete-laplace","units":"2"},"release":"c5ee2141748d1b65","scale":"2","scope":"unit"}');
CREATE TABLE frameworks (
	id INTEGER NOT NULL, 
	source INTEGER NOT NULL, 
	fingerprint TEXT NOT NULL, 
	definition TEXT NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (source, fingerprint), 
	FOREIGN KEY(source) REFERENCES sources (id)
);
INSERT INTO "frameworks" VALUES(1,1,'8525e37635fad3b7','pufferfish','{"beliefs":[{"initial":"stationary","kind":"markov-chain","length":100,"matrix":[[0.7,0.30000000000000004],[0.30000000000000004,0.7]],"source":"assumed","states":[0,1]}],"definition":"pufferfish","secrets":[{"attribute":null,"kind":"every-entry"}]}');
INSERT INTO "frameworks" VALUES(2,2,'8309bb05aa2d2ef9','pufferfish','{"beliefs":[{"chain":{"initial":"stationary","kind":"markov-chain","length":1,"matrix":[[0.7,0.30000000000000004],[0.30000000000000004,0.7]],"source":"assumed","states":[0,1]},"kind":"independent-pieces","lengths":[4,2]}],"definition":"pufferfish","secrets":[{"attribute":null,"kind":"every-entry"}]}');
INSERT INTO "frameworks" VALUES(3,2,'1ac87427a6b9ec4c','pufferfish','{"beliefs":[{"chain":{"initial":"stationary","kind":"markov-chain","length":1,"matrix":[[0.7,0.30000000000000004],[0.30000000000000004,0.7]],"source":"assumed","states":[0,1]},"kind":"independent-pieces","lengths":[3]}],"definition":"pufferfish","secrets":[{"attribute":null,"kind":"every-entry"}]}');
INSERT INTO "frameworks" VALUES(4,2,'2f3e781b1d89dcca','pufferfish','{"beliefs":[{"chain":{"initial":"stationary","kind":"markov-chain","length":1,"matrix":[[0.7,0.30000000000000004],[0.30000000000000004,0.7]],"source":"assumed","states":[0,1]},"kind":"independent-pieces","lengths":[6]}],"definition":"pufferfish","secrets":[{"attribute":null,"kind":"every-entry"}]}');
INSERT INTO "frameworks" VALUES(5,2,'47c3557e13c72905','pufferfish','{"beliefs":[{"chain":{"initial":"stationary","kind":"markov-chain","length":1,"matrix":[[0.7,0.30000000000000004],[0.30000000000000004,0.7]],"source":"assumed","states":[0,1]},"kind":"independent-pieces","lengths":[5]}],"definition":"pufferfish","secrets":[{"attribute":null,"kind":"every-entry"}]}');
INSERT INTO "frameworks" VALUES(6,3,'8309bb05aa2d2ef9','pufferfish','{"beliefs":[{"chain":{"initial":"stationary","kind":"markov-chain","length":1,"matrix":[[0.7,0.30000000000000004],[0.30000000000000004,0.7]],"source":"assumed","states":[0,1]},"kind":"independent-pieces","lengths":[4,2]}],"definition":"pufferfish","secrets":[{"attribute":null,"kind":"every-entry"}]}');
INSERT INTO "frameworks" VALUES(7,3,'2f3e781b1d89dcca','pufferfish','{"beliefs":[{"chain":{"initial":"stationary","kind":"markov-chain","length":1,"matrix":[[0.7,0.30000000000000004],[0.30000000000000004,0.7]],"source":"assumed","states":[0,1]},"kind":"independent-pieces","lengths":[6]}],"definition":"pufferfish","secrets":[{"attribute":null,"kind":"every-entry"}]}');
INSERT INTO "frameworks" VALUES(8,3,'1ac87427a6b9ec4c','pufferfish','{"beliefs":[{"chain":{"initial":"stationary","kind":"markov-chain","length":1,"matrix":[[0.7,0.30000000000000004],[0.30000000000000004,0.7]],"source":"assumed","states":[0,1]},"kind":"independent-pieces","lengths":[3]}],"definition":"pufferfish","secrets":[{"attribute":null,"kind":"every-entry"}]}');
INSERT INTO "frameworks" VALUES(9,4,'f98c0bbc47b600a0','pufferfish','{"beliefs":[{"kind":"joint-table","names":["s","u","v"],"probabilities":["0.25","0.25","0.25","0.25"],"rows":[[0,0,0],[0,10,10],[1,1,11],[1,11,1]],"source":"assumed"}],"definition":"pufferfish","secrets":[{"a":1,"b":0,"entry":"s","kind":"entry"}]}');
INSERT INTO "frameworks" VALUES(10,5,'8525e37635fad3b7','pufferfish','{"beliefs":[{"initial":"stationary","kind":"markov-chain","length":100,"matrix":[[0.7,0.30000000000000004],[0.30000000000000004,0.7]],"source":"assumed","states":[0,1]}],"definition":"pufferfish","secrets":[{"attribute":null,"kind":"every-entry"}]}');
INSERT INTO "frameworks" VALUES(11,7,'26eaceaac7c7f2a4','pufferfish','{"beliefs":[{"chain":{"initial":"stationary","kind":"markov-chain","length":1,"matrix":[[0.7,0.30000000000000004],[0.30000000000000004,0.7]],"source":"assumed","states":[0,1]},"kind":"independent-pieces","lengths":[2]}],"definition":"pufferfish","secrets":[{"attribute":null,"kind":"every-entry"}]}');
CREATE TABLE meta (
	kind TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	created TEXT NOT NULL, 
	"key" TEXT NOT NULL
);
INSERT INTO "meta" VALUES('takifugu-ledger',1,'2026-11-20T16:57:43+00:00','5fed20785fce80a11e460829edad08de4fe5733dfbd39b7ed9ab8f7293ba3209');
CREATE TABLE releases (
	id INTEGER NOT NULL, 
	public_id TEXT NOT NULL, 
	source INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	epsilon TEXT NOT NULL, 
	delta TEXT NOT NULL, 
	software TEXT NOT NULL, 
	created TEXT NOT NULL, 
	changed TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (public_id), 
	FOREIGN KEY(source) REFERENCES sources (id)
);
INSERT INTO "releases" VALUES(1,'457b1d16598af9ae',1,'first','published','1/3','0','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(2,'4fdc1c5abbacfd8f',1,'quilt a','published','1','0','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(3,'2de4f89568d363ac',1,'quilt b','published','1','0','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(4,'061e21748e7fc8c1',1,'left over','reserved','1/7','0','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(5,'3954cb5e11bf83a9',2,'each','published','1','0','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(6,'60ad461f9cf8f0a7',2,'pooled','published','1','0','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(7,'d7a793717ad0105a',2,'normal','drawn','0.5','0.001','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(8,'276c764f911aef32',2,'after delta','published','1','0','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(9,'dd5726bfbc03198e',3,'pooled','published','1','0','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(10,'605b0c4b51ad29da',3,'each','published','1','0','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(11,'509b7b344251b3ed',4,'release','reserved','1','0','0.1.0','2026-11-20T16:57:43+00:00','2026-11-20T16:57:43+00:00');
INSERT INTO "releases" VALUES(12,'3a815fe51f5b2df2',4,'release','reserved','1','0','0.1.0','2026-11-20T16:57:44+00:00','2026-11-20T16:57:44+00:00');
INSERT INTO "releases" VALUES(13,'fb1c58e1616dbc3a',5,'release','reserved','0.5','0','0.1.0','2026-11-20T16:57:44+00:00','2026-11-20T16:57:44+00:00');
INSERT INTO "releases" VALUES(14,'c5ee2141748d1b65',7,'other spelling','reserved','1','0','0.1.0','2026-11-20T16:57:44+00:00','2026-11-20T16:57:44+00:00');
CREATE TABLE sources (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	public_id TEXT NOT NULL, 
	created TEXT NOT NULL, 
	budget_epsilon TEXT, 
	budget_delta TEXT, 
	budget_is_implied BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name), 
	UNIQUE (public_id)
);
INSERT INTO "sources" VALUES(1,'sequence','8afb47659d1c0ce1','2026-11-20T16:57:43+00:00','9','0',0);
INSERT INTO "sources" VALUES(2,'study','18a69a72d18dc92b','2026-11-20T16:57:43+00:00','20','0.02',0);
INSERT INTO "sources" VALUES(3,'singles','a7ddc9e4e8ba86d5','2026-11-20T16:57:43+00:00','9','0',0);
INSERT INTO "sources" VALUES(4,'recharged','34c86103aec45ba3','2026-11-20T16:57:43+00:00','30','0',0);
INSERT INTO "sources" VALUES(5,'implied','bcb44012ad73411f','2026-11-20T16:57:44+00:00','0.5','0',1);
INSERT INTO "sources" VALUES(6,'unused','55d0cfbdc10893b8','2026-11-20T16:57:44+00:00','2.5','0',0);
INSERT INTO "sources" VALUES(7,' study ','ac9d777e3a20e7da','2026-11-20T16:57:44+00:00','4','0',0);
CREATE TABLE units (
	id INTEGER NOT NULL, 
	source INTEGER NOT NULL, 
	tag TEXT NOT NULL, 
	epsilon TEXT NOT NULL, 
	delta TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (source, tag), 
	FOREIGN KEY(source) REFERENCES sources (id)
);
INSERT INTO "units" VALUES(1,1,'b7373fefc620567bb25785b30b6cbe52e04209451352fe5e59ccd8bc33f9b2ee','1.113493244','0');
INSERT INTO "units" VALUES(2,2,'02d6fd14291c95319015c4aeb36ab6b3531020edc15b8251cca2a67125ce7597','2','0');
INSERT INTO "units" VALUES(3,2,'b55bd80821ecb8a2a9524d9d7ea9fc21724bf7006d3fdb207e9efbe1744255c1','2','0');
INSERT INTO "units" VALUES(4,2,'5bc12ee9aae731f8a99ba7d0b81a7d1e62283d8f2c4f0bc00f04d689510c093f','3.5','0.001');
INSERT INTO "units" VALUES(5,2,'b25d25b24e7997715ddbdf93c7a668c14ec31981864237c6d327ebc7df980e10','2','0');
INSERT INTO "units" VALUES(6,2,'0eeeb57b2419f4cb71def6220fddb361eb6d41d6de4c7048b687874a0d1ef811','2','0');
INSERT INTO "units" VALUES(7,3,'d806d48cb44f0269a4d409025df6e9dc56f2063f2e77a1c964862e019952fc28','2','0');
INSERT INTO "units" VALUES(8,3,'0eeeb57b2419f4cb71def6220fddb361eb6d41d6de4c7048b687874a0d1ef811','2','0');
INSERT INTO "units" VALUES(9,3,'3217e632889c0271fd6394b7fae01e46249eeecceb10ac7ea00b817125cc38b3','2','0');
INSERT INTO "units" VALUES(10,4,'b7373fefc620567bb25785b30b6cbe52e04209451352fe5e59ccd8bc33f9b2ee','22','0');
INSERT INTO "units" VALUES(11,5,'b7373fefc620567bb25785b30b6cbe52e04209451352fe5e59ccd8bc33f9b2ee','0.5','0');
INSERT INTO "units" VALUES(12,7,'02d6fd14291c95319015c4aeb36ab6b3531020edc15b8251cca2a67125ce7597','1','0');
CREATE INDEX ix_debits_unit ON debits (unit);
CREATE INDEX ix_debits_release ON debits (release);
COMMIT;
